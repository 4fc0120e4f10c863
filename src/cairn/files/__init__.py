"""The folder tree that people see: layout, workspaces, promotion, archives, drift."""

from cairn.files.content import FileContent, Move
from cairn.files.errors import DiskFull, FilesError, NotWritable, Obstructed, OtherDisk, Truncated, UnsafePath, shown
from cairn.files.tree import Tree

__all__ = [
    "DiskFull",
    "FileContent",
    "FilesError",
    "Move",
    "NotWritable",
    "Obstructed",
    "OtherDisk",
    "Tree",
    "Truncated",
    "UnsafePath",
    "shown",
]
