"""Commands for notification channels."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import read_bytes
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import ExitCode
from cairn.cli.references import UnknownReference
from cairn.cli.rendering import field_pairs

channels_app = group("Manage notification channels.")
ChannelName = Annotated[str, typer.Argument(metavar="CHANNEL", help="Name or id of a channel.")]
Url = Annotated[
    str | None,
    typer.Option("--url", help="URL, stored as a secret. Use @file to read it from a file, @- for stdin."),
]
SigningKey = Annotated[
    str | None,
    typer.Option("--signing-key", help="Signing key of a webhook. Use @file to read it from a file, @- for stdin."),
]
NotificationKinds = Annotated[
    list[str] | None,
    typer.Option("--notification-kind", help="Notification kind to send to this channel. Repeatable."),
]
Recipients = Annotated[
    list[str] | None, typer.Option("--recipient", help="Email recipient if a rule names none. Repeatable.")
]
Fallback = Annotated[str | None, typer.Option("--fallback", help="Channel to use if this one fails.")]
IncludeDetails = Annotated[
    bool | None, typer.Option("--include-details/--no-include-details", help="Include content, not just a link.")
]


@channels_app.command("list")
@online()
async def list_channels(ctx: CliContext) -> None:
    """List the channels.

    Example: cairn channels list
    """
    page = await ctx.client.list_channels()
    rows = [
        (
            channel["name"],
            channel["kind"],
            channel["host"] or "-",
            channel["fallback"] or "-",
            "yes" if channel["is_enabled"] else "no",
        )
        for channel in page["items"]
    ]
    headings = ("name", "kind", "host", "fallback", "enabled")
    ctx.show(
        page,
        lambda _: ctx.output.table(headings, rows, empty="No channels found. Create one with `cairn channels add`."),
    )


@channels_app.command("show")
@online()
async def show_channel(ctx: CliContext, name: ChannelName) -> None:
    """Show a channel. Its URL and key are never shown.

    Example: cairn channels show Operations
    """
    ctx.show(await find_channel(ctx, name), lambda channel: _print_channel(ctx, channel))


@channels_app.command("add")
@online("write")
async def add_channel(  # noqa: PLR0913, PLR0917 - one option for each field
    ctx: CliContext,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the channel.")],
    kind: Annotated[str, typer.Option("--kind", help="Kind: teams, slack, email, webhook or apprise.")],
    url: Url = None,
    signing_key: SigningKey = None,
    notification_kinds: NotificationKinds = None,
    recipient: Recipients = None,
    fallback: Fallback = None,
    include_details: IncludeDetails = None,
) -> None:
    """Create a channel.

    Example: cairn channels add Operations --kind teams --url @teams-url.txt --fallback Mail
    """
    fields = _channel_fields(None, url, signing_key, notification_kinds, recipient, fallback, include_details)
    created = await ctx.client.create_channel({"name": name, "kind": kind, **fields})
    ctx.show(created, lambda channel: _print_channel(ctx, channel))
    if created["signing_key"] is not None and not ctx.output.as_json:
        ctx.output.line("Store the signing key now. It is not shown again.")


@channels_app.command("update")
@online("write")
async def update_channel(  # noqa: PLR0913, PLR0917
    ctx: CliContext,
    name: ChannelName,
    new_name: Annotated[str | None, typer.Option("--name", help="New name.")] = None,
    url: Url = None,
    signing_key: SigningKey = None,
    notification_kinds: NotificationKinds = None,
    recipient: Recipients = None,
    fallback: Fallback = None,
    include_details: IncludeDetails = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable", help="Enable or disable the channel.")] = None,
) -> None:
    """Update a channel. Only the given options change.

    Example: cairn channels update Operations --no-include-details
    """
    fields = _channel_fields(new_name, url, signing_key, notification_kinds, recipient, fallback, include_details)
    if enabled is not None:
        fields["is_enabled"] = enabled
    updated = await ctx.client.update_channel((await find_channel(ctx, name))["channel_id"], fields)
    ctx.show(updated, lambda channel: _print_channel(ctx, channel))


@channels_app.command("delete")
@online("write")
async def delete_channel(ctx: CliContext, name: ChannelName) -> None:
    """Delete a channel, its URL and its key.

    Example: cairn channels delete Operations
    """
    deleted = await ctx.client.delete_channel((await find_channel(ctx, name))["channel_id"])
    ctx.show(deleted, lambda channel: ctx.output.line(f"{channel['name']}: deleted"))


@channels_app.command("test")
@online()
async def send_test(
    ctx: CliContext,
    name: ChannelName,
    recipient: Annotated[str | None, typer.Option("--to", help="Recipient of the test, for email channels.")] = None,
) -> None:
    """Send a test notification and show the result.

    Example: cairn channels test Operations
    """
    result = await ctx.client.test_channel((await find_channel(ctx, name))["channel_id"], recipient)
    ctx.show(result, lambda result: ctx.output.line(f"{result['channel']}: {result['status']}  {result['response']}"))
    if result["status"] != "sent":
        raise typer.Exit(ExitCode.FAILED)


async def find_channel(ctx: CliContext, name: str) -> JsonObject:
    for channel in (await ctx.client.list_channels())["items"]:
        if name in (channel["channel_id"], channel["name"]):
            return await ctx.client.get_channel(channel["channel_id"])
    raise UnknownReference("channel", name, "`cairn channels` lists channels.")


def _channel_fields(
    name: str | None,
    url: str | None,
    key: str | None,
    kinds: list[str] | None,
    recipients: list[str] | None,
    fallback: str | None,
    include_details: bool | None,
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": name,
        "url": _read_secret_argument(url),
        "signing_key": _read_secret_argument(key),
        "notification_kinds": kinds or None,
        "recipients": recipients or None,
        "fallback": fallback,
        "include_details": include_details,
    }
    return {field: value for field, value in fields.items() if value is not None}


def _read_secret_argument(argument: str | None) -> str | None:
    """Read `@file`, so that a secret does not have to be in the shell history."""
    if argument is None or not argument.startswith("@"):
        return argument
    return read_bytes(argument[1:]).decode(errors="replace").strip()


def _print_channel(ctx: CliContext, channel: JsonObject) -> None:
    ctx.output.fields(field_pairs(channel))
