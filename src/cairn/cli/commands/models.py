"""Models that agents think with: which there are, and whether one answers."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.client.responses import Answer
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import ExitCode

models_app = group("List and test models.")


@models_app.command("list")
@online("checks")
async def list_models(
    ctx: CliContext,
    every: Annotated[
        bool, typer.Option("--all", help="Include providers that are not installed or have no key.")
    ] = False,
) -> None:
    """List available providers and the default model. Keys are never shown.

    Example: cairn models list --all
    """
    ctx.show(await ctx.client.list_models(), lambda found: _list(ctx, found, every=every))


def _list(ctx: CliContext, found: Answer, *, every: bool) -> None:
    screen = ctx.screen
    simulated = " (simulated: no provider is asked)" if found["is_simulated"] else ""
    screen.line(f"default: {found['default']}{simulated}")
    if found["fallbacks"]:
        screen.line(f"fallbacks: {', '.join(found['fallbacks'])}")
    screen.line(f"prices: {found['prices']}")
    rows = [
        (
            one["name"],
            "yes" if one["is_ready"] else "no",
            _key(one),
            one["base_url"] or "-",
            one["remedy"],
        )
        for one in found["providers"]
        if every or one["is_ready"]
    ]
    screen.table(("provider", "ready", "key from", "address", "what to do"), rows)


def _key(one: Answer) -> str:
    return one["key_source"] or ("-" if one["wants_key"] else "none needed")


@models_app.command("test")
@online("checks")
async def try_model(
    ctx: CliContext,
    name: Annotated[
        str | None, typer.Argument(metavar="MODEL", help="provider:model. Default: the default model.")
    ] = None,
) -> None:
    """Test a model with one small request.

    Example: cairn models test anthropic:claude-sonnet-5-5
    """
    tried = await ctx.client.test_model(name)
    ctx.show(tried, lambda one: _tried(ctx, one))
    if not tried["works"]:
        raise typer.Exit(ExitCode.REFUSED)


def _tried(ctx: CliContext, tried: Answer) -> None:
    if not tried["works"]:
        ctx.screen.line(f"{tried['message']} ({tried['fault']}, after {tried['seconds']:.1f} s)")
        return
    cost = f"${tried['cost_usd']:.6f}" if tried["cost_usd"] is not None else "price not known"
    used = f"{tried['input_tokens']} tokens in, {tried['output_tokens']} out, {cost}"
    simulated = ", simulated" if tried["is_simulated"] else ""
    ctx.screen.line(f"{tried['model']} answers in {tried['seconds']:.1f} s: {tried['answer']!r} ({used}{simulated})")
