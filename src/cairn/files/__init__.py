"""The folder tree that people see: layout, workspaces, promotion, archives, drift."""

from cairn.files.content import FileContent, Move
from cairn.files.drift import Drift, Expected, Workspaces
from cairn.files.errors import DiskFull, FilesError, NotWritable, Obstructed, OtherDisk, Truncated, UnsafePath, shown
from cairn.files.repair import Report
from cairn.files.tree import Tree

__all__ = [
    "DiskFull",
    "Drift",
    "Expected",
    "FileContent",
    "FilesError",
    "Move",
    "NotWritable",
    "Obstructed",
    "OtherDisk",
    "Report",
    "Tree",
    "Truncated",
    "UnsafePath",
    "Workspaces",
    "shown",
]
