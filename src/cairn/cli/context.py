"""The context of a command: the API client, the output and the reference resolver. Runs commands with it."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from cairn.cli import server_location
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import Output, print_status
from cairn.cli.server_location import FolderAccess, ServerLocation

if TYPE_CHECKING:
    from cairn.cli.client import Client, JsonObject
    from cairn.cli.embedded_server import EmbeddedServer
    from cairn.cli.references import ReferenceResolver

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Data folder.", show_default="./cairn-data", rich_help_panel="Connection"),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server", help="Address of a server to use instead of the data folder.", rich_help_panel="Connection"
    ),
]
Token = Annotated[
    str | None,
    typer.Option("--token", help="Token for the server. Default: CAIRN_TOKEN.", rich_help_panel="Connection"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_SHARED_OPTIONS: dict[str, Any] = {"as_json": AsJson, "data_dir": DataDir, "server": Server, "token": Token}
CONNECT_TIMEOUT_SECONDS, RESPONSE_TIMEOUT_SECONDS = 5.0, 300.0


@dataclass(frozen=True, slots=True)
class CliContext:
    client: Client
    output: Output
    resolver: ReferenceResolver
    server_name: str  # the server's address, or the data folder if it was opened for this command
    embedded: EmbeddedServer | None = None

    def show(self, value: Any, print_text: Callable[[Any], None]) -> None:
        """Print the value as JSON with --json, otherwise as text."""
        if self.output.as_json:
            self.output.json(value)
        else:
            print_text(value)

    async def wait_until_idle(self, run_id: str) -> JsonObject:
        """The run after a change. Without a server, wait until this process has done the work."""
        if self.embedded is not None:
            from cairn.cli.run_follower import follow_until_idle

            return await follow_until_idle(self.client, run_id)
        return await self.client.get_run(run_id)


Command = Callable[..., Awaitable[None]]


def online(access: FolderAccess = "read") -> Callable[[Command], Callable[..., None]]:
    """Decorate a command that calls the API, on a server or on a data folder that it opens itself.

    The command receives a `CliContext` and gets the options --json, --data-dir, --server and --token.
    """

    def decorate(command: Command) -> Callable[..., None]:
        parameters = inspect.signature(command, eval_str=True).parameters
        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in parameters.items()
            if name != "ctx"
        ]
        shared = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in _SHARED_OPTIONS.items()
        ]
        shared[0] = shared[0].replace(default=False)

        @wraps(command)
        def run(**options: Any) -> None:
            location = server_location.find(*(options.pop(name) for name in ("data_dir", "server", "token")))
            output = Output(as_json=options.pop("as_json"))
            run_command(with_context(output, location, access, lambda ctx: command(ctx=ctx, **options)))

        setattr(run, "__signature__", inspect.Signature([*own, *shared]))  # noqa: B010 - no attribute of the type
        run.__annotations__ = {p.name: p.annotation for p in (*own, *shared)}
        del run.__dict__["__wrapped__"]
        return run

    return decorate


def offline(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command that needs no server, so that it reports errors like the others."""
    hints = get_type_hints(command, include_extras=True)

    @wraps(command)
    def run(**options: Any) -> None:
        with report_errors():
            command(**options)

    run.__annotations__ = hints
    return run


def run_command(command: Awaitable[None]) -> None:
    async def main() -> None:
        await command

    with report_errors():
        asyncio.run(main())


class report_errors:  # noqa: N801 - used as a statement
    """Print the error that ended a command, and exit with its code."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        match error:
            case CommandFailed():
                for line in error.lines:
                    print_status(line)
                raise typer.Exit(error.code) from None
            case KeyboardInterrupt() | asyncio.CancelledError():
                raise typer.Exit(ExitCode.INTERRUPTED) from None
            case BrokenPipeError():
                discard_output()
                raise typer.Exit(ExitCode.PIPE_CLOSED) from None
            case _:
                return False


def discard_output() -> None:
    """Redirect the output to the null device, so that flushing the buffers at exit raises no second error."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            os.dup2(null, stream.fileno())
    os.close(null)


async def with_context(
    output: Output, location: ServerLocation, access: FolderAccess, command: Callable[[CliContext], Awaitable[None]]
) -> None:
    async with connect(location, access) as (client, embedded):
        from cairn.cli.references import ReferenceResolver

        await command(CliContext(client, output, ReferenceResolver(client), location.name, embedded))
        output.out.flush()


@asynccontextmanager
async def connect(
    location: ServerLocation, access: FolderAccess = "read"
) -> AsyncGenerator[tuple[Client, EmbeddedServer | None]]:
    """A client of the server, or of the data folder, which is opened in this process."""
    if location.address is not None:
        async with _client(location.name, location.address, location.token) as client:
            yield client, None
        return
    from cairn.cli.embedded_server import open_folder  # takes a second to import

    async with open_folder(location.folder, access) as embedded:
        token = location.token or embedded.token
        async with _client(location.name, "http://localhost", token, embedded.transport) as client:
            yield client, embedded


def _is_local(address: str) -> bool:
    return address.partition("://")[2].startswith(("127.", "localhost", "[::1]"))


@asynccontextmanager
async def _client(server_name: str, address: str, token: str | None, transport: Any = None) -> AsyncGenerator[Client]:
    from cairn.cli.client import Client
    from cairn.cli.client.http import httpx

    headers = {"User-Agent": "cairn", **({"Authorization": f"Bearer {token}"} if token else {})}
    timeout = httpx.Timeout(CONNECT_TIMEOUT_SECONDS, read=RESPONSE_TIMEOUT_SECONDS, write=RESPONSE_TIMEOUT_SECONDS)
    try:
        http = httpx.AsyncClient(
            base_url=address,
            headers=headers,
            timeout=timeout,
            transport=transport,
            verify=address.startswith("https:"),  # loading certificates takes a tenth of a second
            trust_env=not _is_local(address),  # no proxy for this machine
        )
    except httpx.InvalidURL:
        raise CommandFailed(ExitCode.USAGE, f"{address} is not a valid server address.") from None
    async with http:
        yield Client(http, server_name)
