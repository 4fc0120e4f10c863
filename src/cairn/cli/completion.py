"""Shell completion of names. Queries a running server, and gives up quickly if there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from cairn.cli import server_location
from cairn.cli.exit_codes import CommandFailed

if TYPE_CHECKING:
    from cairn.cli.client import Client

TIMEOUT_SECONDS = 1.0
MAX_NAMES = 50


def pipelines(incomplete: str) -> list[str]:
    async def list_names(client: Client) -> list[str]:
        page = await client.list_pipelines(limit=MAX_NAMES)
        return [pipeline["pipeline_name"] for pipeline in page["items"]]

    return _complete(list_names, incomplete)


def runs(incomplete: str) -> list[str]:
    async def list_names(client: Client) -> list[str]:
        from cairn.cli.references import title

        return [title(run) for run in (await client.list_runs(limit=MAX_NAMES))["items"]]

    return _complete(list_names, incomplete)


def executions(incomplete: str) -> list[str]:
    """Complete the names of open runs, or the checkpoints of a run after `run/`."""

    async def list_names(client: Client) -> list[str]:
        from cairn.cli.references import ReferenceResolver, title

        run_name, slash, _ = incomplete.rpartition("/")
        if slash:
            run = await client.get_run(await ReferenceResolver(client).run(run_name))
            return [f"{run_name}/{checkpoint['key']}" for checkpoint in run["checkpoints"]]
        page = await client.list_runs(status=("in_progress", "paused", "failed"), limit=MAX_NAMES)
        return [title(run) for run in page["items"]]

    return _complete(list_names, incomplete)


def approvals(incomplete: str) -> list[str]:
    async def list_names(client: Client) -> list[str]:
        return [approval["approval_id"] for approval in (await client.list_approvals(limit=MAX_NAMES))["items"]]

    return _complete(list_names, incomplete)


def actions(incomplete: str) -> list[str]:
    async def list_names(client: Client) -> list[str]:
        return [action["action_id"] for action in (await client.list_actions(limit=MAX_NAMES))["items"]]

    return _complete(list_names, incomplete)


def rollbacks(incomplete: str) -> list[str]:
    async def list_names(client: Client) -> list[str]:
        return [rollback["rollback_id"] for rollback in (await client.list_rollbacks(limit=MAX_NAMES))["items"]]

    return _complete(list_names, incomplete)


def _complete(list_names: Callable[[Any], Awaitable[list[str]]], incomplete: str) -> list[str]:
    location = server_location.find(None, None, None)
    if location.address is None:
        return []

    async def main() -> list[str]:
        from cairn.cli.context import connect

        async with connect(location) as (client, _):
            return await asyncio.wait_for(list_names(client), TIMEOUT_SECONDS)

    try:
        return [name for name in asyncio.run(main()) if name.casefold().startswith(incomplete.casefold())]
    except (CommandFailed, TimeoutError):
        return []
