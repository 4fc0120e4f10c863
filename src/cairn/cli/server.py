"""Runs the server, its worker and the web app in one process, on one data folder."""

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
from cairn.cli.preflight import STARTUP_ERRORS, explain
from cairn.config import Settings
from cairn.services.masking import mask
from cairn.worker import Worker, tune_garbage_collection

log = logging.getLogger("cairn")


def run_server(settings: Settings) -> int:
    """Serve until stopped. Returns the exit code."""
    logging.basicConfig(level=settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    os.umask(0o077)  # only the owner may read the data
    lock = FolderLock(settings.data_dir.resolve())
    try:
        lock.acquire()
    except FolderInUse as error:
        typer.echo(f"cairn: {error}", err=True)
        return 1
    except OSError as error:
        typer.echo(f"cairn: Can't open the data folder {settings.data_dir}: {error.strerror}.", err=True)
        return 1
    try:
        listener = _listen(settings)
    except OSError as error:
        address = f"{settings.host}:{settings.port}"
        typer.echo(f"cairn: Can't listen on {address}: {error.strerror}. Choose another --port.", err=True)
        return 1
    try:
        with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            runner.run(_serve(settings, listener))
    except STARTUP_ERRORS as error:
        typer.echo(f"cairn: {explain(error)}", err=True)
        return 1
    finally:
        listener.close()
        lock.release()
    return 0


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # or asyncio does not set TCP_NODELAY
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((settings.host, settings.port))
    listener.listen(2048)
    return listener


async def _serve(settings: Settings, listener: socket.socket) -> None:
    port: int = listener.getsockname()[1]
    cairn = build(settings.model_copy(update={"port": port}))  # the setting may leave the choice to the system
    install_log_masking(cairn.secrets.mask_loaded)
    lock = DatabaseLock(cairn.database.system_engine) if cairn.database.kind == "postgresql" else None
    if lock is not None:
        lock.acquire()
    tune_garbage_collection()
    await cairn.folder_repair.repair_unfinished()
    async with running_worker(cairn):
        server = _Server(
            uvicorn.Config(
                create_app(cairn),
                log_level="warning",
                lifespan="off",
                ws="none",  # importing websockets takes time, and nothing uses it
                timeout_graceful_shutdown=5,
                server_header=False,
            )
        )
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(signal_number, server.request_stop, cairn)
        token = await _publish_address(cairn, listener)  # only now: a client may connect or stop the server at once
        await server.serve(sockets=[listener])
    if lock is not None:
        lock.release()
    server_location.write(settings.data_dir, {"token": token})


class _Server(uvicorn.Server):
    """Does not handle signals itself, because the worker must stop after the server."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    def request_stop(self, cairn: AppServices) -> None:
        cairn.event_bus.close()  # ends the event streams, which would delay the shutdown
        self.should_exit = True


@asynccontextmanager
async def running_worker(cairn: AppServices) -> AsyncGenerator[Worker]:
    """Run the worker, and repair drift of the folders in the background."""
    worker = Worker(cairn)
    await worker.start()
    drift = asyncio.get_running_loop().create_task(cairn.folder_repair.repair_all())
    try:
        yield worker
    finally:
        drift.cancel()
        with suppress(asyncio.CancelledError):
            await drift
        cairn.event_bus.close()
        await worker.stop()
        cairn.close()


async def _publish_address(cairn: AppServices, listener: socket.socket) -> str:
    """Write the server file, and print the sign-in link. Returns the local token."""
    settings = cairn.settings
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    token = await cairn.authentication.local_token(server_location.read(settings.data_dir).get("token"))
    server_location.write(
        settings.data_dir, {"address": address, "token": token, "pid": os.getpid(), "version": __version__}
    )
    typer.echo(f"Cairn {__version__}, data in {settings.data_dir.resolve()}")
    typer.echo(f"Open {address}/#token={token}")
    if host not in LOOPBACK:
        typer.echo("The server is reachable from other machines without encryption. Put a TLS proxy in front of it.")
    return token


class MaskingFormatter(logging.Formatter):
    """Masks complete log lines, including tracebacks."""

    def __init__(self, formatter: logging.Formatter, mask_secrets: Callable[[str], str]) -> None:
        super().__init__()
        self._formatter = formatter
        self._mask_secrets = mask_secrets

    def format(self, record: logging.LogRecord) -> str:
        return mask(self._mask_secrets(self._formatter.format(record)))


def install_log_masking(mask_secrets: Callable[[str], str]) -> None:
    """Mask the output of all log handlers. `mask_secrets` masks the values in the secret store."""
    for handler in logging.getLogger().handlers:
        if not isinstance(handler.formatter, MaskingFormatter):
            handler.setFormatter(MaskingFormatter(handler.formatter or logging.Formatter(), mask_secrets))
