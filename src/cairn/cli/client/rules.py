"""Operations on approval rules: versions, explanations, backtests, audits and the emergency stop."""

from __future__ import annotations

from cairn.cli.client.transport import HttpCalls, JsonObject

YAML = "application/yaml"


class RulesApi(HttpCalls):
    # ---- rules and their versions --------------------------------------------------------------------
    async def get_rules(self) -> JsonObject:
        return await self._get("/api/rules")

    async def put_rules(self, text: bytes, *, comment: str = "") -> JsonObject:
        return await self._send_document("PUT", "/api/rules", text, YAML, query={"comment": comment})

    async def list_rule_versions(self, *, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/rules/versions", None, limit)

    async def get_rule_version(self, revision: int) -> JsonObject:
        return await self._get(f"/api/rules/versions/{revision}")

    async def diff_rule_versions(self, before: int, after: int) -> JsonObject:
        return await self._get("/api/rules/diff", {"from": before, "to": after})

    async def check_rules(self, text: bytes) -> JsonObject:
        return await self._send_document("POST", "/api/rules/check", text, YAML)

    async def get_pipeline_rules(self, pipeline_id: str) -> JsonObject:
        return await self._get(f"/api/pipelines/{pipeline_id}/rules")

    async def put_pipeline_rules(self, pipeline_id: str, text: bytes, *, comment: str = "") -> JsonObject:
        path = f"/api/pipelines/{pipeline_id}/rules"
        return await self._send_document("PUT", path, text, YAML, query={"comment": comment})

    async def delete_pipeline_rules(self, pipeline_id: str) -> JsonObject:
        return await self._send("DELETE", f"/api/pipelines/{pipeline_id}/rules")

    async def list_pipeline_rule_versions(self, pipeline_id: str, *, limit: int | None = None) -> JsonObject:
        return await self._pages(f"/api/pipelines/{pipeline_id}/rules/versions", None, limit)

    async def get_pipeline_rule_version(self, pipeline_id: str, revision: int) -> JsonObject:
        return await self._get(f"/api/pipelines/{pipeline_id}/rules/versions/{revision}")

    async def diff_pipeline_rule_versions(self, pipeline_id: str, before: int, after: int) -> JsonObject:
        return await self._get(f"/api/pipelines/{pipeline_id}/rules/diff", {"from": before, "to": after})

    # ---- explanations and audits -----------------------------------------------------------------------
    async def explain_approval(self, approval_id: str) -> JsonObject:
        return await self._get(f"/api/approvals/{approval_id}/explain")

    async def backtest_rules(
        self, text: bytes, *, pipeline_id: str | None = None, since: str | None = None, limit: int | None = None
    ) -> JsonObject:
        query = {"pipeline_id": pipeline_id, "since": since, "limit": limit}
        return await self._send_document("POST", "/api/rules/backtest", text, YAML, query=query)

    async def get_autonomy(self, *, days: int | None = None) -> JsonObject:
        return await self._get("/api/rules/autonomy", {"days": days})

    async def list_audits(
        self, *, reviewed: bool | None = None, pipeline_id: str | None = None, limit: int | None = None
    ) -> JsonObject:
        return await self._pages("/api/rules/audits", {"reviewed": reviewed, "pipeline_id": pipeline_id}, limit)

    async def review_audit(self, approval_id: str, *, agrees: bool, comment: str = "") -> JsonObject:
        body = {"agrees": agrees, "comment": comment}
        return await self._send("PUT", f"/api/rules/audits/{approval_id}", body)

    # ---- emergency stop --------------------------------------------------------------------------------
    async def get_emergency_stop(self) -> JsonObject:
        return await self._get("/api/rules/emergency-stop")

    async def set_emergency_stop(self, stopped: bool, reason: str = "", *, level: str = "approvals") -> JsonObject:
        """Stop automatic approvals, or with the level `actions` all actions. Or lift the stop."""
        body = {"stopped": stopped, "reason": reason, "level": level}
        return await self._send("PUT", "/api/rules/emergency-stop", body)

    async def list_emergency_stops(self, *, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/rules/emergency-stop/history", None, limit)
