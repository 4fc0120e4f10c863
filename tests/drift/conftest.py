"""A running Cairn for each test: the tests stop it, change its files and start it again."""

from __future__ import annotations

from tests.worker.conftest import app

__all__ = ["app"]
