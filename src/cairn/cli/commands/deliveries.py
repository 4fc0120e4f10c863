"""Commands for deliveries of notifications."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.arguments import Limit
from cairn.cli.client import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.commands.channels import find_channel
from cairn.cli.context import CliContext, online
from cairn.cli.output import local_time

deliveries_app = group("List and show deliveries of notifications.")


@deliveries_app.command("list")
@online()
async def list_deliveries(
    ctx: CliContext,
    channel: Annotated[str | None, typer.Option("--channel", help="Filter by channel.")] = None,
    status: Annotated[
        list[str] | None, typer.Option("--status", help="Filter by status: queued, sent, failed…")
    ] = None,
    limit: Limit = 50,
) -> None:
    """List deliveries, newest first.

    Example: cairn deliveries list --status failed
    """
    channel_id = (await find_channel(ctx, channel))["channel_id"] if channel is not None else None
    page = await ctx.client.list_deliveries(channel_id=channel_id, status=status or (), limit=limit)
    rows = [
        (
            local_time(delivery["created_at"]),
            delivery["kind"],
            delivery["channel"],
            delivery["recipient"] or "-",
            delivery["status"],
            delivery["response"],
        )
        for delivery in page["items"]
    ]
    headings = ("time", "kind", "channel", "recipient", "status", "response")
    ctx.show(page, lambda _: ctx.output.table(headings, rows, empty="No deliveries found."))


@deliveries_app.command("show")
@online()
async def show_delivery(
    ctx: CliContext, delivery_id: Annotated[str, typer.Argument(metavar="DELIVERY", help="Id of a delivery.")]
) -> None:
    """Show a delivery with its attempts.

    Example: cairn deliveries show 7f9c…
    """
    ctx.show(await ctx.client.get_delivery(delivery_id), lambda delivery: _print_delivery(ctx, delivery))


def _print_delivery(ctx: CliContext, delivery: JsonObject) -> None:
    content: JsonObject = delivery["content"] or {}
    ctx.output.fields(
        [
            ("title", content.get("title", delivery["kind"])),
            ("channel", f"{delivery['channel']} ({delivery['channel_kind']})"),
            ("recipient", delivery["recipient"] or "-"),
            ("status", delivery["status"]),
            ("possible duplicate", "yes" if delivery["possible_duplicate"] else "no"),
        ]
    )
    rows = [
        (attempt["number"], local_time(attempt["started_at"]), attempt["outcome"] or "in progress", attempt["response"])
        for attempt in delivery["attempts"]
    ]
    ctx.output.table(("attempt", "started", "outcome", "response"), rows, empty="No attempts yet.")
