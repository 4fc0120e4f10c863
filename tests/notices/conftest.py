"""A house with receivers for all tests of this folder, on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest
import pytest_asyncio

from tests.databases import KINDS
from tests.notices.receivers import Desk, open_desk


@pytest_asyncio.fixture(scope="package", loop_scope="package", params=KINDS)
async def shared_desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    with ExitStack() as stack:
        url: str | None = None
        if request.param == "postgresql":
            url = stack.enter_context(request.getfixturevalue("postgres").new_database(migrated=True))
        async with open_desk(tmp_path_factory.mktemp("data"), url) as opened:
            yield opened


@pytest_asyncio.fixture(loop_scope="package")
async def desk(shared_desk: Desk) -> AsyncIterator[Desk]:
    yield shared_desk
    await shared_desk.clear()
    await shared_desk.house.check()
