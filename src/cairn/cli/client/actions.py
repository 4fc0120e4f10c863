"""Operations on actions and on the gate that they pass."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.cli.client.transport import HttpCalls, JsonObject


class ActionsApi(HttpCalls):
    async def list_actions(
        self,
        *,
        state: Sequence[str] = (),
        operation_type: str | None = None,
        run_id: str | None = None,
        pipeline_id: str | None = None,
        unsettled: bool = False,
        limit: int | None = None,
    ) -> JsonObject:
        query = {
            "state": list(state),
            "operation_type": operation_type,
            "run_id": run_id,
            "pipeline_id": pipeline_id,
            "unsettled": "true" if unsettled else None,
        }
        return await self._pages("/api/actions", query, limit)

    async def list_executed_actions(self, run_id: str, *, limit: int | None = None) -> JsonObject:
        """What a run and the runs that it retries have executed, or may have executed."""
        return await self._pages("/api/actions/executed", {"run_id": run_id}, limit)

    async def get_action(self, action_id: str) -> JsonObject:
        return await self._get(f"/api/actions/{action_id}")

    async def settle_action(self, action_id: str, answer: str, *, feedback: str = "") -> JsonObject:
        """Settle an unknown outcome: happened, did_not_happen, send_again or give_up."""
        body = {"answer": answer, "feedback": feedback}
        return await self._send("POST", f"/api/actions/{action_id}/settle", body)

    async def revoke_action(self, action_id: str, reason: str) -> JsonObject:
        return await self._send("POST", f"/api/actions/{action_id}/revoke", {"reason": reason})

    async def get_action_gate(self) -> JsonObject:
        return await self._get("/api/actions/gate")

    async def release_actions(self) -> JsonObject:
        """Let actions start again after a restore. Only admins can."""
        return await self._send("POST", "/api/actions/gate/release")
