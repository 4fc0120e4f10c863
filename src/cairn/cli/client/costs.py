"""Conversations, and what they cost."""

from __future__ import annotations

from typing import Any

from cairn.cli.client.transport import Answer, HttpCalls


class CostsApi(HttpCalls):
    async def list_messages(self, execution_id: str, *, scope: str | None = None) -> Answer:
        return await self._pages(f"/api/executions/{execution_id}/messages", {"scope": scope})

    async def get_run_costs(self, run_id: str, *, group_by: str, most: int | None = None) -> Answer:
        return await self._pages(f"/api/runs/{run_id}/costs", {"group_by": group_by}, most)

    async def get_pipeline_costs(
        self,
        pipeline_id: str,
        *,
        group_by: str,
        since: str | None = None,
        until: str | None = None,
        most: int | None = None,
    ) -> Answer:
        query = {"group_by": group_by, "since": since, "until": until}
        return await self._pages(f"/api/pipelines/{pipeline_id}/costs", query, most)

    async def get_costs(
        self, *, group_by: str, since: str | None = None, until: str | None = None, most: int | None = None
    ) -> Answer:
        return await self._pages("/api/costs", {"group_by": group_by, "since": since, "until": until}, most)

    async def set_budget(self, run_id: str, limits: dict[str, Any]) -> Answer:
        return await self._send("PUT", f"/api/runs/{run_id}/budget", limits)
