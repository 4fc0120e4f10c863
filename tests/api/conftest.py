"""One app per module and database, because DBOS is a singleton and takes a while to start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest
import pytest_asyncio

from tests.api.app import App, open_app
from tests.databases import KINDS


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=KINDS)
async def app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    with ExitStack() as stack:
        url: str | None = None
        if request.param == "postgresql":
            url = stack.enter_context(request.getfixturevalue("postgres").new_database(migrated=True))
        async with open_app(tmp_path_factory.mktemp("data"), url) as opened:
            yield opened
