"""Whether all is well."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli import server_location
from cairn.cli.client import Answer
from cairn.cli.context import AsJson, CliContext, DataDir, Server, Token, carry_out, with_context
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import STYLES, Output


def doctor(
    data_dir: DataDir = None,
    server: Server = None,
    token: Token = None,
    as_json: AsJson = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair differences. Your own files are never deleted.")
    ] = False,
) -> None:
    """Check the installation and report problems.

    Checks the database, events, folders, jobs, disk, sandbox, clock, settings and permissions. Each check is ok,
    warning or fault, with a remedy where there is one. Safe to run beside a server. Exits with 1 on a fault.

    Example: cairn doctor
    """
    screen = Output(as_json=as_json)
    carry_out(_examine(screen, server_location.find(data_dir, server, token), repair=repair))


async def _examine(screen: Output, place: server_location.ServerLocation, *, repair: bool) -> None:
    async def ask(ctx: CliContext) -> None:
        _tell(screen, await (ctx.client.repair() if repair else ctx.client.get_diagnosis()))

    if place.address is None:
        from cairn.cli.preflight import beforehand  # the store's parts take half a second to import

        if unwell := beforehand(place.folder, repair=repair):
            _tell(screen, unwell)
            return
    await with_context(screen, place, "reads", ask)


def _tell(screen: Output, diagnosis: Answer) -> None:
    if screen.as_json:
        screen.answer(diagnosis)
    else:
        for found in diagnosis["findings"]:
            remedy = f" — {found['remedy']}" if found["remedy"] else ""
            line = f"{found['verdict']:<9}{found['what']}: {found['detail']}{remedy}"
            screen.line(line, STYLES.get(found["verdict"]) if found["verdict"] != "ok" else None)
    if not diagnosis["well"]:
        raise CommandFailed(ExitCode.REFUSED)
