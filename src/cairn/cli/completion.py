"""Names for the shell to complete: asked of a running server, and only where that is quick."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from cairn.cli import server_location
from cairn.cli.exit_codes import CommandFailed

if TYPE_CHECKING:
    from cairn.cli.client import Client

SECONDS = 1.0
MOST = 50


def pipelines(incomplete: str) -> list[str]:
    async def ask(client: Client) -> list[str]:
        listed = await client.list_pipelines(most=MOST)
        return [pipeline["pipeline_name"] for pipeline in listed["items"]]

    return _asked(ask, incomplete)


def runs(incomplete: str) -> list[str]:
    async def ask(client: Client) -> list[str]:
        from cairn.cli.references import title

        return [title(run) for run in (await client.list_runs(most=MOST))["items"]]

    return _asked(ask, incomplete)


def executions(incomplete: str) -> list[str]:
    """Those that something is wanted for; after a run's name, all of that run."""

    async def ask(client: Client) -> list[str]:
        from cairn.cli.references import ReferenceResolver, title

        run, slash, _ = incomplete.rpartition("/")
        if slash:
            found = await client.get_run(await ReferenceResolver(client).run(run))
            return [f"{run}/{item['key']}" for item in found["checkpoints"]]
        open_ones = (await client.list_runs(status=("in_progress", "paused", "failed"), most=MOST))["items"]
        return [title(run) for run in open_ones]

    return _asked(ask, incomplete)


def approvals(incomplete: str) -> list[str]:
    async def ask(client: Client) -> list[str]:
        return [approval["approval_id"] for approval in (await client.list_approvals(most=MOST))["items"]]

    return _asked(ask, incomplete)


def rollbacks(incomplete: str) -> list[str]:
    async def ask(client: Client) -> list[str]:
        return [rollback["rollback_id"] for rollback in (await client.list_rollbacks(most=MOST))["items"]]

    return _asked(ask, incomplete)


def _asked(ask: Callable[[Any], Awaitable[list[str]]], incomplete: str) -> list[str]:
    place = server_location.find(None, None, None)
    if place.address is None:
        return []

    async def main() -> list[str]:
        from cairn.cli.context import connected

        async with connected(place) as (client, _):
            return await asyncio.wait_for(ask(client), SECONDS)

    try:
        return [name for name in asyncio.run(main()) if name.casefold().startswith(incomplete.casefold())]
    except (CommandFailed, TimeoutError):
        return []
