"""A house for each test: these stop it and start it again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.services.house import House, open_house


@pytest_asyncio.fixture
async def house(database_url: str, database_kind: str, tmp_path: Path) -> AsyncIterator[House]:
    """On a database of its own, of each kind."""
    url = database_url if database_kind == "postgresql" else None
    async with open_house(tmp_path / "data", url) as opened:
        yield opened
        await opened.check()
