"""The API client, with the operations on the server, rework, rollbacks, artifacts and events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from cairn.cli.client.action_types import ActionTypesApi
from cairn.cli.client.agents import AgentsApi
from cairn.cli.client.approvals import ApprovalsApi
from cairn.cli.client.costs import CostsApi
from cairn.cli.client.definitions import DefinitionsApi
from cairn.cli.client.identity import IdentityApi
from cairn.cli.client.models import ModelsApi
from cairn.cli.client.notifications import NotificationsApi
from cairn.cli.client.rules import RulesApi
from cairn.cli.client.runs import RunsApi
from cairn.cli.client.tools import ToolsApi
from cairn.cli.client.transport import JsonObject


class Client(
    DefinitionsApi,
    ActionTypesApi,
    AgentsApi,
    ApprovalsApi,
    RulesApi,
    RunsApi,
    ModelsApi,
    ToolsApi,
    CostsApi,
    NotificationsApi,
    IdentityApi,
):
    # ---- the server ----------------------------------------------------------------------------------
    async def get_health(self) -> JsonObject:
        return await self._get("/api/health")

    async def get_session(self) -> JsonObject:
        return await self._get("/api/session")

    async def get_health_report(self) -> JsonObject:
        return await self._get("/api/doctor")

    async def repair(self) -> JsonObject:
        return await self._send("POST", "/api/doctor/repair")

    # ---- rework --------------------------------------------------------------------------------------
    async def preview_rework(self, execution_id: str, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", f"/api/executions/{execution_id}/rework/preview", body)

    async def create_rework(self, execution_id: str, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", f"/api/executions/{execution_id}/rework", body)

    async def rerun_execution(self, execution_id: str, *, reason: str = "") -> JsonObject:
        return await self._send("POST", f"/api/executions/{execution_id}/rerun", {"reason": reason})

    async def get_lineage(self, run_id: str) -> JsonObject:
        return await self._get(f"/api/runs/{run_id}/lineage")

    # ---- rollbacks -----------------------------------------------------------------------------------
    async def preview_rollback(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", "/api/rollback/preview", body)

    async def create_rollback(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", "/api/rollback", body)

    async def list_rollbacks(
        self, *, pipeline_id: str | None = None, run_id: str | None = None, limit: int | None = None
    ) -> JsonObject:
        return await self._pages("/api/rollback", {"pipeline_id": pipeline_id, "run_id": run_id}, limit)

    async def get_rollback(self, rollback_id: str) -> JsonObject:
        return await self._get(f"/api/rollback/{rollback_id}")

    async def undo_rollback(self, rollback_id: str) -> JsonObject:
        return await self._send("POST", f"/api/rollback/{rollback_id}/undo")

    # ---- artifacts -----------------------------------------------------------------------------------
    async def list_artifacts(
        self,
        *,
        pipeline_id: str | None = None,
        run_id: str | None = None,
        execution_id: str | None = None,
        limit: int | None = None,
    ) -> JsonObject:
        query = {"pipeline_id": pipeline_id, "run_id": run_id, "execution_id": execution_id}
        return await self._pages("/api/artifacts/list", query, limit)

    async def get_artifact(self, record_id: str) -> JsonObject:
        return await self._get(f"/api/artifacts/{record_id}")

    def download_artifact(self, record_id: str) -> AsyncGenerator[bytes]:
        return self._content(f"/api/artifacts/{record_id}/download")

    def get_artifact_content(self, record_id: str) -> AsyncGenerator[bytes]:
        return self._content(f"/api/artifacts/{record_id}/content")

    # ---- events --------------------------------------------------------------------------------------
    async def list_events(
        self,
        *,
        pipeline_id: str | None = None,
        run_id: str | None = None,
        execution_id: str | None = None,
        scope: str | None = None,
        event_type: Sequence[str] = (),
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
    ) -> JsonObject:
        filters = {"pipeline_id": pipeline_id, "run_id": run_id, "execution_id": execution_id, "scope": scope}
        query = {**filters, "event_type": list(event_type), "since": since, "until": until}
        return await self._pages("/api/events", query, limit)

    async def verify_events(self, *, pipeline_id: str | None = None, run_id: str | None = None) -> JsonObject:
        return await self._get("/api/events/verify", {"pipeline_id": pipeline_id, "run_id": run_id})
