"""The server: everything in one process, on one data folder."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress

import typer
import uvicorn
from uvicorn.loops.auto import auto_loop_factory

from cairn import __version__
from cairn.adapters.database_lock import DatabaseLock
from cairn.adapters.folder_lock import FolderInUse, FolderLock
from cairn.api.app import create_app
from cairn.bootstrap import LOOPBACK, AppServices, build
from cairn.cli import server_location
from cairn.cli.preflight import CANNOT_START, explain
from cairn.config import Settings
from cairn.services.masking import mask
from cairn.worker import Worker, collect_seldom

log = logging.getLogger("cairn")


def run_server(settings: Settings) -> int:
    """Serve until stopped; the answer is the exit code."""
    logging.basicConfig(level=settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    os.umask(0o077)  # what is kept here is its owner's alone
    lock = FolderLock(settings.data_dir.resolve())
    try:
        lock.acquire()
    except FolderInUse as held:
        typer.echo(f"cairn: {held}", err=True)
        return 1
    except OSError as error:
        typer.echo(f"cairn: the data folder {settings.data_dir} cannot be used: {error.strerror}.", err=True)
        return 1
    try:
        listener = _listen(settings)
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        typer.echo(f"cairn: cannot listen on {where}: {error.strerror}. Choose another --port.", err=True)
        return 1
    try:
        with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            runner.run(_serve(settings, listener))
    except CANNOT_START as error:
        typer.echo(f"cairn: {explain(error)}", err=True)
        return 1
    finally:
        listener.close()
        lock.release()
    return 0


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or answers wait for the client
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((settings.host, settings.port))
    listener.listen(2048)
    return listener


async def _serve(settings: Settings, listener: socket.socket) -> None:
    cairn = build(settings)
    mask_log(cairn.secrets.mask_remembered)
    held = DatabaseLock(cairn.database.system_engine) if cairn.database.kind == "postgresql" else None
    if held is not None:
        held.acquire()
    collect_seldom()
    await cairn.folder_repair.repair_unfinished()
    async with at_work(cairn):
        server = _Server(
            uvicorn.Config(
                create_app(cairn),
                log_level="warning",
                lifespan="off",
                ws="none",  # which would be imported all the same
                timeout_graceful_shutdown=5,
                server_header=False,
            )
        )
        for asked in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(asked, server.ask_to_stop, cairn)
        token = await _announce(cairn, listener)  # whoever has read it may ask, and may stop the server
        await server.serve(sockets=[listener])
    if held is not None:
        held.release()
    server_location.write(settings.data_dir, {"token": token})


class _Server(uvicorn.Server):
    """Stops when it is asked to, and leaves the signals alone: the worker stops after it."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    def ask_to_stop(self, cairn: AppServices) -> None:
        cairn.hub.close()  # streams end, so that nobody waits for them
        self.should_exit = True


@asynccontextmanager
async def at_work(cairn: AppServices) -> AsyncGenerator[Worker]:
    """The worker runs meanwhile; drift is looked for beside it."""
    worker = Worker(cairn)
    await worker.start()
    drift = asyncio.get_running_loop().create_task(cairn.folder_repair.repair_all())
    try:
        yield worker
    finally:
        drift.cancel()
        with suppress(asyncio.CancelledError):
            await drift
        cairn.hub.close()
        await worker.stop()
        cairn.close()


async def _announce(cairn: AppServices, listener: socket.socket) -> str:
    """Write down how to reach the server, and print the link that signs in."""
    settings = cairn.settings
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}"
    token = await cairn.access.local_token(server_location.read(settings.data_dir).get("token"))
    server_location.write(
        settings.data_dir, {"address": address, "token": token, "pid": os.getpid(), "version": __version__}
    )
    typer.echo(f"Cairn {__version__} keeps its data in {settings.data_dir.resolve()}")
    typer.echo(f"Open {address}/#token={token}")
    if host not in LOOPBACK:
        typer.echo("It listens beyond this machine, without encryption: put a TLS proxy in front of it.")
    return token


class MaskingFilter(logging.Formatter):
    """Whole lines are masked when they are written, with what errors say of themselves."""

    def __init__(self, form: logging.Formatter, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._form = form
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        return mask(self._hide(self._form.format(record)))


def mask_log(hide: Callable[[str], str]) -> None:
    """From now on every handler masks; `hide` knows the values of the secret store."""
    for handler in logging.getLogger().handlers:
        if not isinstance(handler.formatter, MaskingFilter):
            handler.setFormatter(MaskingFilter(handler.formatter or logging.Formatter(), hide))
