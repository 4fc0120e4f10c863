"""The doctor command: checks the installation."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli import server_location
from cairn.cli.client import JsonObject
from cairn.cli.context import AsJson, CliContext, DataDir, Server, Token, run_command, with_context
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

    Checks the database, events, folders, jobs, disk, sandbox, clock, settings and permissions. You can run it while a
    server is running. Exits with 1 if a check finds an error.

    Example: cairn doctor
    """
    output = Output(as_json=as_json)
    run_command(_check_health(output, server_location.find(data_dir, server, token), repair=repair))


async def _check_health(output: Output, location: server_location.ServerLocation, *, repair: bool) -> None:
    async def check(ctx: CliContext) -> None:
        _print_report(output, await (ctx.client.repair() if repair else ctx.client.get_health_report()))

    if location.address is None:
        from cairn.cli.preflight import check_before_opening  # takes half a second to import

        if report := check_before_opening(location.folder, repair=repair):
            _print_report(output, report)
            return
    await with_context(output, location, "read", check)


def _print_report(output: Output, report: JsonObject) -> None:
    if output.as_json:
        output.json(report)
    else:
        for check in report["checks"]:
            hint = f" — {check['hint']}" if check["hint"] else ""
            line = f"{check['status']:<9}{check['name']}: {check['detail']}{hint}"
            output.line(line, STYLES.get(check["status"]) if check["status"] != "ok" else None)
    if not report["healthy"]:
        raise CommandFailed(ExitCode.FAILED)
