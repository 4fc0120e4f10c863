"""A house for each test: these stop it, change its files and start it again."""

from __future__ import annotations

from tests.worker.conftest import house

__all__ = ["house"]
