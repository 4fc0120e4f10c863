"""Where people are told what happens, what was sent, and what one wants to be told."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import Limit, read_bytes
from cairn.cli.client.responses import Answer
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import CommandFailed, ExitCode
from cairn.cli.output import moment

channels_app = group("Manage notification channels.")
deliveries_app = group("List and show deliveries of notifications.")
preferences_app = group("Manage your notification preferences.")

ChannelName = Annotated[str, typer.Argument(metavar="CHANNEL", help="Name or id of a channel.")]
Url = Annotated[
    str | None,
    typer.Option("--url", help="The address, which is secret. @file reads it from a file, @- from stdin."),
]
Key = Annotated[str | None, typer.Option("--signing-key", help="Signing key of a webhook. Also accepts @file.")]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--notification-kind", help="Notification kinds that are always sent to this channel."),
]
Recipients = Annotated[list[str] | None, typer.Option("--recipient", help="Email recipients when a rule names none.")]
Fallback = Annotated[str | None, typer.Option("--fallback", help="Channel to use when this one fails.")]
Details = Annotated[
    bool | None, typer.Option("--include-details/--no-include-details", help="Include content, not just a link.")
]


@channels_app.command("list")
@online()
async def list_channels(ctx: CliContext) -> None:
    """List the channels.

    Example: cairn channels list
    """
    found = await ctx.client.list_channels()
    rows = [
        (one["name"], one["kind"], one["host"] or "-", one["fallback"] or "-", "yes" if one["is_enabled"] else "no")
        for one in found["items"]
    ]
    titles = ("name", "kind", "leads to", "fallback", "in use")
    ctx.show(found, lambda _: ctx.screen.table(titles, rows, empty="There are no channels: add one."))


@channels_app.command("show")
@online()
async def show_channel(ctx: CliContext, name: ChannelName) -> None:
    """Show a channel. Its address and key stay secret.

    Example: cairn channels show Operations
    """
    ctx.show(await _find(ctx, name), lambda one: _facts(ctx, one))


@channels_app.command("add")
@online("saves")
async def add_channel(  # noqa: PLR0913, PLR0917 - an option for each thing that can be said
    ctx: CliContext,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the channel.")],
    kind: Annotated[str, typer.Option("--kind", help="Kind: teams, slack, email, webhook or apprise.")],
    url: Url = None,
    signing_key: Key = None,
    notices: Kinds = None,
    recipient: Recipients = None,
    fallback: Fallback = None,
    details: Details = None,
) -> None:
    """Create a channel.

    Example: cairn channels add Operations --kind teams --url @address.txt --fallback Mail
    """
    given = _given(None, url, signing_key, notices, recipient, fallback, details)
    made = await ctx.client.create_channel({"name": name, "kind": kind, **given})
    ctx.show(made, lambda one: _facts(ctx, one))
    if made["signing_key"] is not None and not ctx.screen.as_json:
        ctx.screen.line("The signing key is not shown again.")


@channels_app.command("update")
@online("saves")
async def update_channel(  # noqa: PLR0913, PLR0917
    ctx: CliContext,
    name: ChannelName,
    new_name: Annotated[str | None, typer.Option("--name", help="New name.")] = None,
    url: Url = None,
    signing_key: Key = None,
    notices: Kinds = None,
    recipient: Recipients = None,
    fallback: Fallback = None,
    details: Details = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable", help="Enable or disable the channel.")] = None,
) -> None:
    """Update a channel. Options you leave out stay as they are.

    Example: cairn channels update Operations --no-include-details
    """
    given = _given(new_name, url, signing_key, notices, recipient, fallback, details)
    if enabled is not None:
        given["is_enabled"] = enabled
    changed = await ctx.client.update_channel((await _find(ctx, name))["channel_id"], given)
    ctx.show(changed, lambda one: _facts(ctx, one))


@channels_app.command("remove")
@online("saves")
async def remove_channel(ctx: CliContext, name: ChannelName) -> None:
    """Remove a channel with its address and key.

    Example: cairn channels remove Operations
    """
    removed = await ctx.client.delete_channel((await _find(ctx, name))["channel_id"])
    ctx.show(removed, lambda one: ctx.screen.line(f"{one['name']}: removed"))


@channels_app.command("test")
@online()
async def try_channel(
    ctx: CliContext,
    name: ChannelName,
    recipient: Annotated[str | None, typer.Option("--to", help="Recipient of the test, for email channels.")] = None,
) -> None:
    """Send a test notification and show the result.

    Example: cairn channels test Operations
    """
    tried = await ctx.client.test_channel((await _find(ctx, name))["channel_id"], recipient)
    ctx.show(tried, lambda one: ctx.screen.line(f"{one['channel']}: {one['status']}  {one['response']}"))
    if tried["status"] != "sent":
        raise typer.Exit(ExitCode.REFUSED)


@deliveries_app.command("list")
@online()
async def list_deliveries(
    ctx: CliContext,
    channel: Annotated[str | None, typer.Option("--channel", help="Filter by channel.")] = None,
    status: Annotated[
        list[str] | None, typer.Option("--status", help="Filter by status: waiting, sent, failed…")
    ] = None,
    limit: Limit = 50,
) -> None:
    """List deliveries, newest first.

    Example: cairn deliveries list --status failed
    """
    channel_id = (await _find(ctx, channel))["channel_id"] if channel is not None else None
    found = await ctx.client.list_deliveries(channel_id=channel_id, status=status or (), most=limit)
    rows = [
        (
            moment(one["created_at"]),
            one["kind"],
            one["channel"],
            one["recipient"] or "-",
            one["status"],
            one["response"],
        )
        for one in found["items"]
    ]
    titles = ("when", "what", "channel", "to", "status", "told")
    ctx.show(found, lambda _: ctx.screen.table(titles, rows, empty="Nothing was sent."))


@preferences_app.command("list")
@online()
async def show_preferences(ctx: CliContext) -> None:
    """Show your notification preferences.

    Example: cairn preferences
    """
    ctx.show(await ctx.client.get_preferences(), lambda one: _wishes(ctx, one))


@preferences_app.command("set")
@online("saves")
async def set_preferences(
    ctx: CliContext,
    channel: Annotated[
        list[str] | None, typer.Option("--channel", help="Channel that may reach you. Repeatable. Default: all.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Notification kind you want. Repeatable. Default: all.")
    ] = None,
    quiet: Annotated[str | None, typer.Option("--quiet-hours", help="Quiet hours, such as 22:00-07:00.")] = None,
    time_zone: Annotated[str, typer.Option("--time-zone", help="Time zone of the quiet hours.")] = "UTC",
) -> None:
    """Set your notification preferences. Replaces all of them.

    Example: cairn preferences set --kind approval_requested --quiet-hours 22:00-07:00 --time-zone Europe/Berlin
    """
    hours = None
    if quiet is not None:
        start, _, end = quiet.partition("-")
        hours = {"start": start, "end": end, "time_zone": time_zone}
    wanted = {"channels": channel or None, "notification_kinds": kind or None, "quiet_hours": hours}
    ctx.show(await ctx.client.set_preferences(wanted), lambda one: _wishes(ctx, one))


@deliveries_app.command("show")
@online()
async def show_delivery(ctx: CliContext, delivery_id: Annotated[str, typer.Argument(help="Id of a delivery.")]) -> None:
    """Show what was sent, and each attempt.

    Example: cairn deliveries show 7f9c…
    """
    ctx.show(await ctx.client.get_delivery(delivery_id), lambda one: _delivery(ctx, one))


def _delivery(ctx: CliContext, delivery: Answer) -> None:
    told: Answer = delivery["content"] or {}
    ctx.screen.facts(
        [
            ("what", told.get("title", delivery["kind"])),
            ("channel", f"{delivery['channel']} ({delivery['channel_kind']})"),
            ("to", delivery["recipient"] or "-"),
            ("status", delivery["status"]),
            ("possible duplicate", "yes" if delivery["possible_duplicate"] else "no"),
        ]
    )
    rows = [
        (one["number"], moment(one["started_at"]), one["outcome"] or "under way", one["response"])
        for one in delivery["attempts"]
    ]
    ctx.screen.table(("try", "when", "outcome", "told"), rows, empty="It was not tried.")


async def _find(ctx: CliContext, name: str) -> Answer:
    found = (await ctx.client.list_channels())["items"]
    for one in found:
        if name in (one["channel_id"], one["name"]):
            return await ctx.client.get_channel(one["channel_id"])
    raise CommandFailed(ExitCode.NOT_FOUND, f"There is no channel {name}: `cairn channels` lists them.")


def _given(
    name: str | None,
    url: str | None,
    key: str | None,
    kinds: list[str] | None,
    recipients: list[str] | None,
    fallback: str | None,
    details: bool | None,
) -> dict[str, Any]:
    given: dict[str, Any] = {
        "name": name,
        "url": _secret(url),
        "signing_key": _secret(key),
        "notification_kinds": kinds or None,
        "recipients": recipients or None,
        "fallback": fallback,
        "include_details": details,
    }
    return {field: value for field, value in given.items() if value is not None}


def _secret(given: str | None) -> str | None:
    """What stands on a command line stays in the shell's history: a file does not."""
    if given is None or not given.startswith("@"):
        return given
    return read_bytes(given[1:]).decode(errors="replace").strip()


def _facts(ctx: CliContext, channel: Answer) -> None:
    shown = {key: ", ".join(value) if isinstance(value, list) else value for key, value in channel.items()}  # pyright: ignore[reportUnknownArgumentType]
    ctx.screen.facts((key.replace("_", " "), value) for key, value in shown.items() if value not in (None, ""))


def _wishes(ctx: CliContext, wishes: Answer) -> None:
    quiet = wishes["quiet_hours"]
    hours = f"{quiet['start']}-{quiet['end']} {quiet['time_zone']}" if quiet else "none"
    ctx.screen.facts(
        [
            ("channels", ", ".join(wishes["channels"]) if wishes["channels"] is not None else "all"),
            (
                "kinds",
                ", ".join(wishes["notification_kinds"]) if wishes["notification_kinds"] is not None else "everything",
            ),
            ("quiet hours", hours),
        ]
    )
