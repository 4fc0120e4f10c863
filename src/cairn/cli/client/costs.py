"""Operations on conversations, costs and budgets."""

from __future__ import annotations

from typing import Any

from cairn.cli.client.transport import HttpCalls, JsonObject


class CostsApi(HttpCalls):
    async def list_messages(self, execution_id: str, *, attempt_key: str | None = None) -> JsonObject:
        return await self._pages(f"/api/executions/{execution_id}/messages", {"attempt_key": attempt_key})

    async def get_run_costs(self, run_id: str, *, group_by: str, limit: int | None = None) -> JsonObject:
        return await self._pages(f"/api/runs/{run_id}/costs", {"group_by": group_by}, limit)

    async def get_pipeline_costs(
        self,
        pipeline_id: str,
        *,
        group_by: str,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
    ) -> JsonObject:
        query = {"group_by": group_by, "since": since, "until": until}
        return await self._pages(f"/api/pipelines/{pipeline_id}/costs", query, limit)

    async def get_costs(
        self, *, group_by: str, since: str | None = None, until: str | None = None, limit: int | None = None
    ) -> JsonObject:
        return await self._pages("/api/costs", {"group_by": group_by, "since": since, "until": until}, limit)

    async def set_budget(self, run_id: str, limits: dict[str, Any]) -> JsonObject:
        return await self._send("PUT", f"/api/runs/{run_id}/budget", limits)
