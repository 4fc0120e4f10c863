"""An app with receivers, shared by the tests of this folder and run on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest
import pytest_asyncio

from tests.databases import KINDS
from tests.notifications.receivers import Receivers, open_receivers


@pytest_asyncio.fixture(scope="package", loop_scope="package", params=KINDS)
async def opened_receivers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Receivers]:
    with ExitStack() as stack:
        url: str | None = None
        if request.param == "postgresql":
            url = stack.enter_context(request.getfixturevalue("postgres").new_database(migrated=True))
        async with open_receivers(tmp_path_factory.mktemp("data"), url) as opened:
            yield opened


@pytest_asyncio.fixture(loop_scope="package")
async def receivers(opened_receivers: Receivers) -> AsyncIterator[Receivers]:
    yield opened_receivers
    await opened_receivers.clear()
    await opened_receivers.app.check()
