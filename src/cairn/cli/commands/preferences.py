"""Commands for your notification preferences."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online

preferences_app = group("Manage your notification preferences.")


@preferences_app.command("list")
@online()
async def show_preferences(ctx: CliContext) -> None:
    """Show your notification preferences.

    Example: cairn preferences
    """
    ctx.show(await ctx.client.get_preferences(), lambda preferences: _print_preferences(ctx, preferences))


@preferences_app.command("set")
@online("write")
async def set_preferences(
    ctx: CliContext,
    channel: Annotated[
        list[str] | None, typer.Option("--channel", help="Channel to notify you on. Repeatable. Default: all.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Notification kind to receive. Repeatable. Default: all.")
    ] = None,
    quiet_hours: Annotated[str | None, typer.Option("--quiet-hours", help="Quiet hours, such as 22:00-07:00.")] = None,
    time_zone: Annotated[str, typer.Option("--time-zone", help="Time zone of the quiet hours.")] = "UTC",
) -> None:
    """Replace your notification preferences.

    Example: cairn preferences set --kind approval_requested --quiet-hours 22:00-07:00 --time-zone Europe/Berlin
    """
    hours = None
    if quiet_hours is not None:
        start, _, end = quiet_hours.partition("-")
        hours = {"start": start, "end": end, "time_zone": time_zone}
    preferences = {"channels": channel or None, "notification_kinds": kind or None, "quiet_hours": hours}
    ctx.show(await ctx.client.set_preferences(preferences), lambda preferences: _print_preferences(ctx, preferences))


def _print_preferences(ctx: CliContext, preferences: JsonObject) -> None:
    channels, kinds, quiet_hours = (preferences[name] for name in ("channels", "notification_kinds", "quiet_hours"))
    ctx.output.fields(
        [
            ("channels", ", ".join(channels) if channels is not None else "all"),
            ("kinds", ", ".join(kinds) if kinds is not None else "all"),
            ("quiet hours", "{start}-{end} {time_zone}".format(**quiet_hours) if quiet_hours else "none"),
        ]
    )
