"""The data folder opened by the command itself, when no server holds it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from cairn.adapters.database_lock import DatabaseInUse, DatabaseLock
from cairn.adapters.folder_lock import FolderInUse, FolderLock
from cairn.api.app import create_app
from cairn.bootstrap import AppServices, build
from cairn.cli import server_location
from cairn.cli.client.asgi_transport import AppTransport
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.preflight import CANNOT_START, explain
from cairn.cli.server_location import has_data
from cairn.cli.settings import quieten, read_settings
from cairn.config import Settings
from cairn.worker import Worker

LOCK_SECONDS = 3.0  # how long another command may take to finish
LOOK_SECONDS = 0.05  # how often it is looked whether the work is done


Need = Literal["checks", "reads", "saves", "works"]


class EmbeddedServer:
    """An opened folder: where requests go, and the token that is taken there."""

    def __init__(self, cairn: AppServices, token: str) -> None:
        self.transport = AppTransport(create_app(cairn))
        self.token = token
        self._cairn = cairn

    @property
    def is_at_rest(self) -> bool:
        return self._cairn.lanes.is_idle

    async def come_to_rest(self) -> None:
        """Runners finish what they are at: cut off, it would be done again."""
        while not self.is_at_rest:  # noqa: ASYNC110 - lanes end one by one, and none of them is the last for sure
            await asyncio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def opened(folder: Path, need: Need) -> AsyncGenerator[EmbeddedServer]:
    """The folder for this process alone. Where it `works` a worker runs meanwhile, and what is begun is finished."""
    settings = read_settings(data_dir=folder)
    is_empty = settings.database_url is None and not has_data(folder)
    if need == "checks" and is_empty:
        with TemporaryDirectory() as nowhere:
            async with opened(Path(nowhere), "saves") as embedded:
                yield embedded
        return
    if need == "reads" and is_empty:
        raise CommandFailed(
            ExitCode.UNREACHABLE,
            f"There is no data in {folder}, and no server that holds it: start one with `cairn serve`,"
            " name another folder with --data-dir, or a server with --server.",
        )
    quieten()
    os.umask(0o077)  # what is kept here is its owner's alone
    lock = _take(folder)
    try:
        async with _built(settings) as cairn:
            known = server_location.read(folder).get("token")
            token = await cairn.access.local_token(known)
            server_location.write(folder, {"token": token})
            embedded = EmbeddedServer(cairn, token)
            if need == "works":
                async with _at_work(cairn):
                    yield embedded
                    await embedded.come_to_rest()
            else:
                yield embedded
    finally:
        lock.release()


@asynccontextmanager
async def _built(settings: Settings) -> AsyncGenerator[AppServices]:
    try:
        cairn = build(settings)
    except CANNOT_START as error:
        raise CommandFailed(ExitCode.UNREACHABLE, explain(error)) from None
    held = DatabaseLock(cairn.database.system_engine) if cairn.database.kind == "postgresql" else None
    try:
        if held is not None:
            held.acquire()
        yield cairn
    except DatabaseInUse as error:
        raise CommandFailed(ExitCode.UNREACHABLE, str(error)) from None
    finally:
        if held is not None:
            held.release()
        cairn.close()


@asynccontextmanager
async def _at_work(cairn: AppServices) -> AsyncGenerator[None]:
    await cairn.folder_repair.repair_unfinished()
    worker = Worker(cairn)
    await worker.start()
    try:
        yield
    finally:
        cairn.hub.close()
        await worker.stop()


def _take(folder: Path) -> FolderLock:
    """The folder's lock; another command may have it for a moment."""
    lock = FolderLock(folder.resolve())
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            lock.acquire()
        except FolderInUse as held:
            if time.monotonic() > until:
                raise CommandFailed(ExitCode.UNREACHABLE, str(held)) from None
            time.sleep(LOOK_SECONDS)
        except OSError as error:
            raise CommandFailed(
                ExitCode.UNREACHABLE, f"The data folder {folder} cannot be used: {error.strerror}."
            ) from None
        else:
            return lock
