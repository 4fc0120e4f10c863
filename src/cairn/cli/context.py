"""What a command works with: the client, the screen and the names; and how a command is run around them."""

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
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from cairn.cli import server_location
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import Output, tell

if TYPE_CHECKING:
    from cairn.cli.client import Answer, Client
    from cairn.cli.embedded_server import EmbeddedServer
    from cairn.cli.references import ReferenceResolver

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Data folder.", show_default="./cairn-data", rich_help_panel="Where"),
]
Server = Annotated[
    str | None,
    typer.Option("--server", help="Address of a server to use instead of the data folder.", rich_help_panel="Where"),
]
Token = Annotated[
    str | None, typer.Option("--token", help="Token for the server. Default: CAIRN_TOKEN.", rich_help_panel="Where")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_OPTIONS: dict[str, Any] = {"as_json": AsJson, "data_dir": DataDir, "server": Server, "token": Token}
CONNECT_SECONDS, ANSWER_SECONDS = 5.0, 300.0


@dataclass(frozen=True, slots=True)
class CliContext:
    client: Client
    screen: Output
    naming: ReferenceResolver
    shown: str  # how the server, or the folder, is called
    embedded: EmbeddedServer | None = None

    def show(self, answer: Any, text: Callable[[Any], None]) -> None:
        """As JSON where that is asked for, else as text."""
        if self.screen.as_json:
            self.screen.answer(answer)
        else:
            text(answer)

    async def settled(self, run_id: str) -> Answer:
        """The run after a change. Without a server the work is done here, so it is waited for."""
        if self.embedded is not None:
            from cairn.cli.run_follower import until_rest

            return await until_rest(self.client, run_id)
        return await self.client.get_run(run_id)


Command = Callable[..., Awaitable[None]]
Need = Literal["checks", "reads", "saves", "works"]


def online(need: Need = "reads") -> Callable[[Command], Callable[..., None]]:
    """A command that talks to a server or opens the folder: gets a ctx, and the options that say where.

    Where there is no server, one that `checks` can do without data, one that `saves` may make the folder, and one that
    `works` has a worker beside it. Those that read have none: what it begins would be cut off when they end.
    """

    def decorate(command: Command) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        given = [parameter for name, parameter in own.items() if name != "ctx"]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in _OPTIONS.items()
        ]
        added[0] = added[0].replace(default=False)

        @wraps(command)
        def run(**options: Any) -> None:
            where = [options.pop(name) for name in ("data_dir", "server", "token")]
            screen = Output(as_json=options.pop("as_json"))
            carry_out(with_context(screen, server_location.find(*where), need, lambda ctx: command(ctx=ctx, **options)))

        ordered = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in given]
        setattr(run, "__signature__", inspect.Signature([*ordered, *added]))  # noqa: B010 - no attribute of the type
        run.__annotations__ = {p.name: p.annotation for p in (*ordered, *added)}
        del run.__dict__["__wrapped__"]
        return run

    return decorate


def offline(command: Callable[..., None]) -> Callable[..., None]:
    """A command that needs no server: its errors are told in the same way."""
    hints = get_type_hints(command, include_extras=True)

    @wraps(command)
    def run(**options: Any) -> None:
        with report_errors():
            command(**options)

    run.__annotations__ = hints
    return run


def carry_out(work: Awaitable[None]) -> None:
    async def main() -> None:
        await work

    with report_errors():
        asyncio.run(main())


class report_errors:  # noqa: N801 - used as a statement
    """Whatever ends a command early is told in a line, and becomes its exit code."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        match error:
            case CommandFailed():
                for line in error.lines:
                    tell(line)
                raise typer.Exit(error.code) from None
            case KeyboardInterrupt() | asyncio.CancelledError():
                raise typer.Exit(ExitCode.INTERRUPTED) from None
            case BrokenPipeError():
                discard_output()
                raise typer.Exit(ExitCode.PIPE_CLOSED) from None
            case _:
                return False


def discard_output() -> None:
    """Nobody reads it any more: what is left in the buffers must not complain at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


async def with_context(
    screen: Output, place: server_location.ServerLocation, need: Need, act: Callable[[CliContext], Awaitable[None]]
) -> None:
    async with connected(place, need) as (client, embedded):
        from cairn.cli.references import ReferenceResolver

        await act(CliContext(client, screen, ReferenceResolver(client), place.shown, embedded))
        screen.out.flush()


@asynccontextmanager
async def connected(
    place: server_location.ServerLocation, need: Need = "reads"
) -> AsyncGenerator[tuple[Client, EmbeddedServer | None]]:
    """A client of the server, or of the folder that is opened for it."""
    if place.address is not None:
        async with _client(place.shown, place.address, place.token) as client:
            yield client, None
        return
    from cairn.cli.embedded_server import opened  # the server's parts take a second to import

    async with opened(place.folder, need) as embedded:
        token = place.token or embedded.token
        async with _client(place.shown, "http://localhost", token, embedded.transport) as client:
            yield client, embedded


def _is_local(address: str) -> bool:
    return address.partition("://")[2].startswith(("127.", "localhost", "[::1]"))


@asynccontextmanager
async def _client(shown: str, address: str, token: str | None, transport: Any = None) -> AsyncGenerator[Client]:
    from cairn.cli.client import Client
    from cairn.cli.client.http import httpx

    headers = {"User-Agent": "cairn", **({"Authorization": f"Bearer {token}"} if token else {})}
    timeout = httpx.Timeout(CONNECT_SECONDS, read=ANSWER_SECONDS, write=ANSWER_SECONDS)
    try:
        http = httpx.AsyncClient(
            base_url=address,
            headers=headers,
            timeout=timeout,
            transport=transport,
            verify=address.startswith("https:"),  # certificates take a tenth of a second to read
            trust_env=not _is_local(address),  # no proxy stands between this machine and itself
        )
    except httpx.InvalidURL:
        raise CommandFailed(ExitCode.USAGE, f"{address} is not an address of a server.") from None
    async with http:
        yield Client(http, shown)
