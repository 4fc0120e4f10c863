"""Opens the data folder in the command's own process when no server uses it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from cairn.adapters.database_lock import DatabaseInUse, DatabaseLock
from cairn.adapters.folder_lock import FolderInUse, FolderLock
from cairn.api.app import create_app
from cairn.bootstrap import AppServices, build
from cairn.cli import server_location
from cairn.cli.client.asgi_transport import AppTransport
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.preflight import STARTUP_ERRORS, explain
from cairn.cli.server_location import FolderAccess, has_data
from cairn.cli.settings import read_settings, silence_logs
from cairn.config import Settings
from cairn.worker import Worker

LOCK_TIMEOUT_SECONDS = 3.0  # another command may need this long to finish
POLL_SECONDS = 0.05


class EmbeddedServer:
    """The application on an opened data folder, with its transport and local token."""

    def __init__(self, cairn: AppServices, token: str) -> None:
        self.transport = AppTransport(create_app(cairn))
        self.token = token
        self._cairn = cairn

    @property
    def is_idle(self) -> bool:
        return self._cairn.lanes.is_idle

    async def wait_until_idle(self) -> None:
        """Let runners finish. Interrupted work would be done again."""
        while not self.is_idle:  # noqa: ASYNC110 - a lane that ends may have started another one
            await asyncio.sleep(POLL_SECONDS)


@asynccontextmanager
async def open_folder(folder: Path, access: FolderAccess) -> AsyncGenerator[EmbeddedServer]:
    """Open the folder exclusively. With access "work", run a worker and finish all started work before closing."""
    settings = read_settings(data_dir=folder)
    is_empty = settings.database_url is None and not has_data(folder)
    if access == "optional" and is_empty:
        with TemporaryDirectory() as temporary:
            async with open_folder(Path(temporary), "write") as embedded:
                yield embedded
        return
    if access == "read" and is_empty:
        raise CommandFailed(
            ExitCode.UNREACHABLE,
            f"{folder} contains no data, and no server is running on it. Start a server with `cairn serve`,"
            " choose another folder with --data-dir, or a server with --server.",
        )
    silence_logs()
    os.umask(0o077)  # only the owner may read the data
    lock = _lock(folder)
    try:
        async with _open_services(settings) as cairn:
            token = await cairn.authentication.local_token(server_location.read(folder).get("token"))
            server_location.write(folder, {"token": token})
            embedded = EmbeddedServer(cairn, token)
            if access == "work":
                async with _running_worker(cairn):
                    yield embedded
                    await embedded.wait_until_idle()
            else:
                yield embedded
    finally:
        lock.release()


@asynccontextmanager
async def _open_services(settings: Settings) -> AsyncGenerator[AppServices]:
    try:
        cairn = build(settings)
    except STARTUP_ERRORS as error:
        raise CommandFailed(ExitCode.UNREACHABLE, explain(error)) from None
    lock = DatabaseLock(cairn.database.system_engine) if cairn.database.kind == "postgresql" else None
    try:
        if lock is not None:
            lock.acquire()
        yield cairn
    except DatabaseInUse as error:
        raise CommandFailed(ExitCode.UNREACHABLE, str(error)) from None
    finally:
        if lock is not None:
            lock.release()
        cairn.close()


@asynccontextmanager
async def _running_worker(cairn: AppServices) -> AsyncGenerator[None]:
    await cairn.folder_repair.repair_unfinished()
    worker = Worker(cairn)
    await worker.start()
    try:
        yield
    finally:
        cairn.event_bus.close()
        await worker.stop()


def _lock(folder: Path) -> FolderLock:
    """Acquire the folder lock. Waits a moment, because another command may be about to finish."""
    lock = FolderLock(folder.resolve())
    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        try:
            lock.acquire()
        except FolderInUse as error:
            if time.monotonic() > deadline:
                raise CommandFailed(ExitCode.UNREACHABLE, str(error)) from None
            time.sleep(POLL_SECONDS)
        except OSError as error:
            raise CommandFailed(
                ExitCode.UNREACHABLE, f"Can't open the data folder {folder}: {error.strerror}."
            ) from None
        else:
            return lock
