"""An app for each test, because these tests stop and restart it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.services.app import App, open_app


@pytest_asyncio.fixture
async def app(database_url: str, database_kind: str, tmp_path: Path) -> AsyncIterator[App]:
    """An app on its own database, of each kind."""
    url = database_url if database_kind == "postgresql" else None
    async with open_app(tmp_path / "data", url) as opened:
        yield opened
        await opened.check()
