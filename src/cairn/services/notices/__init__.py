"""Telling people outside what has happened: by card, block, mail, webhook (H7)."""

from cairn.services.notices.noting import Notices

__all__ = ["Notices"]
