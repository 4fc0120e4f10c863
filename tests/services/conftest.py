"""One app per database for all tests of this folder, because DBOS is a singleton. Each test has its own pipelines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest
import pytest_asyncio

from tests.adapters.servers import mail_server, web_server
from tests.databases import KINDS
from tests.mcp_servers import FilesystemServer, RecordingServer
from tests.services.app import App, open_app


@pytest_asyncio.fixture(scope="package", loop_scope="package", params=KINDS)
async def shared_app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    with ExitStack() as stack:
        url: str | None = None
        if request.param == "postgresql":
            url = stack.enter_context(request.getfixturevalue("postgres").new_database(migrated=True))
        async with mail_server() as mail, web_server() as web:
            mail_settings = {"smtp_host": "127.0.0.1", "smtp_port": mail.port, "smtp_tls": "none"}
            allowed = {"outbound_allowed": ["127.0.0.1"]}
            recorder = RecordingServer(tmp_path_factory.mktemp("recorder"))
            files = FilesystemServer.install(tmp_path_factory.mktemp("files"))
            servers = {"mcp_servers": {"recorder": recorder.settings, "files": files.settings}}
            async with open_app(tmp_path_factory.mktemp("data"), url, **mail_settings, **allowed, **servers) as opened:
                opened.mail, opened.web, opened.recorder, opened.files = mail, web, recorder, files
                yield opened
                assert opened.cairn.event_queries.verify_chains(None, None).broken == []


@pytest_asyncio.fixture(loop_scope="package")
async def app(shared_app: App) -> AsyncIterator[App]:
    """The shared app. Checks its invariants after each test."""
    shared_app.mail.mails.clear()
    shared_app.mail.data_response = None
    shared_app.models.current = None
    yield shared_app
    await shared_app.check()
