"""Rows to views: everything that is shown is read here, synchronously, from one snapshot."""

from cairn.services.reading.reader import Reading

__all__ = ["Reading"]
