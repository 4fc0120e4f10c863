"""Commands for models: list and test."""

from __future__ import annotations

from typing import Annotated

import typer

from cairn.cli.client.responses import JsonObject
from cairn.cli.command_groups import group
from cairn.cli.context import CliContext, online
from cairn.cli.exit_codes import ExitCode

models_app = group("List and test models.")


@models_app.command("list")
@online("optional")
async def list_models(
    ctx: CliContext,
    include_unavailable: Annotated[
        bool, typer.Option("--all", help="Include providers that are not installed or have no key.")
    ] = False,
) -> None:
    """List available providers and the default model. Keys are never shown.

    Example: cairn models list --all
    """
    ctx.show(
        await ctx.client.list_models(),
        lambda models: _print_models(ctx, models, include_unavailable=include_unavailable),
    )


def _print_models(ctx: CliContext, models: JsonObject, *, include_unavailable: bool) -> None:
    output = ctx.output
    simulated = " (simulated, no requests to a provider)" if models["is_simulated"] else ""
    output.line(f"default: {models['default']}{simulated}")
    if models["fallbacks"]:
        output.line(f"fallbacks: {', '.join(models['fallbacks'])}")
    output.line(f"prices: {models['prices']}")
    rows = [
        (
            provider["name"],
            "yes" if provider["is_ready"] else "no",
            _key_source(provider),
            provider["base_url"] or "-",
            provider["hint"],
        )
        for provider in models["providers"]
        if include_unavailable or provider["is_ready"]
    ]
    output.table(("provider", "ready", "key", "address", "hint"), rows)


def _key_source(provider: JsonObject) -> str:
    return provider["key_source"] or ("-" if provider["requires_key"] else "not required")


@models_app.command("test")
@online("optional")
async def try_model(
    ctx: CliContext,
    name: Annotated[
        str | None, typer.Argument(metavar="MODEL", help="provider:model. Default: the default model.")
    ] = None,
) -> None:
    """Test a model with one small request.

    Example: cairn models test anthropic:claude-sonnet-5-5
    """
    result = await ctx.client.test_model(name)
    ctx.show(result, lambda result: _print_test(ctx, result))
    if not result["succeeded"]:
        raise typer.Exit(ExitCode.FAILED)


def _print_test(ctx: CliContext, result: JsonObject) -> None:
    if not result["succeeded"]:
        ctx.output.line(f"{result['error_message']} ({result['error_type']}, after {result['seconds']:.1f} s)")
        return
    cost = f"${result['cost_usd']:.6f}" if result["cost_usd"] is not None else "unknown price"
    usage = f"{result['input_tokens']} tokens in, {result['output_tokens']} out, {cost}"
    simulated = ", simulated" if result["is_simulated"] else ""
    ctx.output.line(
        f"{result['model']} responded in {result['seconds']:.1f} s: {result['answer']!r} ({usage}{simulated})"
    )
