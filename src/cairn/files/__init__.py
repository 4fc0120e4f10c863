"""The folder tree: layout, workspaces, promotion, archives, drift."""

from cairn.files.content import FileContent, FileMove
from cairn.files.drift import Drift, ExpectedTree, Workspaces
from cairn.files.errors import (
    DiskFull,
    FilesError,
    NotWritable,
    Obstructed,
    OtherDisk,
    Truncated,
    UnsafePath,
    printable,
)
from cairn.files.repair import RepairResult
from cairn.files.tree import Tree

__all__ = [
    "DiskFull",
    "Drift",
    "ExpectedTree",
    "FileContent",
    "FileMove",
    "FilesError",
    "NotWritable",
    "Obstructed",
    "OtherDisk",
    "RepairResult",
    "Tree",
    "Truncated",
    "UnsafePath",
    "Workspaces",
    "printable",
]
