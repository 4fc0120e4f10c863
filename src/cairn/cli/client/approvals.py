"""Operations on approvals and corrections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.cli.client.transport import HttpCalls, JsonObject


class ApprovalsApi(HttpCalls):
    async def list_approvals(
        self,
        *,
        status: Sequence[str] = (),
        kind: Sequence[str] = (),
        pipeline_id: str | None = None,
        run_id: str | None = None,
        mine: bool = False,
        sort: str = "age",
        limit: int | None = None,
    ) -> JsonObject:
        query: dict[str, Any] = {
            "status": list(status),
            "kind": list(kind),
            "pipeline_id": pipeline_id,
            "run_id": run_id,
            "mine": "true" if mine else None,
            "sort": sort,
        }
        return await self._pages("/api/approvals", query, limit)

    async def get_approval(self, approval_id: str) -> JsonObject:
        return await self._get(f"/api/approvals/{approval_id}")

    async def decide_approval(  # noqa: PLR0913 - one field for each part of a decision
        self,
        approval_id: str,
        decision: str,
        *,
        digest: str | None = None,
        feedback: str = "",
        fields: Any = None,
        modified_params: dict[str, Any] | None = None,
        on_repeat: str | None = None,
        override: bool = False,
        learn: bool = False,
    ) -> JsonObject:
        """Decide an approval. With a digest, the server refuses if the content has changed since it was read.

        An action that repeats earlier ones needs `on_repeat`: use_earlier or execute_again.
        """
        body: dict[str, Any] = {"reason" if decision == "reject" else "feedback": feedback}
        optional = {
            "digest": digest,
            "fields": fields,
            "modified_params": modified_params,
            "on_repeat": on_repeat,
            "override": override or None,
            "learn": learn or None,
        }
        body |= {name: value for name, value in optional.items() if value is not None}
        return await self._send("PUT", f"/api/approvals/{approval_id}/{decision}", body)

    async def decide_batch(
        self, items: list[dict[str, Any]], decision: str, *, feedback: str = "", on_repeat: str | None = None
    ) -> JsonObject:
        body = {"items": items, "decision": decision, "feedback": feedback, "on_repeat": on_repeat}
        return await self._send("POST", "/api/approvals/batch", body)

    async def preview_modification(self, approval_id: str, modified_params: dict[str, Any]) -> JsonObject:
        return await self._send("PUT", f"/api/approvals/{approval_id}/modify", {"modified_params": modified_params})

    async def assign_approval(self, approval_id: str, assigned_to: Sequence[str], *, reason: str = "") -> JsonObject:
        return await self._send(
            "PUT", f"/api/approvals/{approval_id}/assign", {"assigned_to": list(assigned_to), "reason": reason}
        )

    async def add_comment(self, approval_id: str, text: str) -> JsonObject:
        return await self._send("POST", f"/api/approvals/{approval_id}/comments", {"text": text})

    async def list_corrections(self, *, operation_type: str | None = None, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/corrections", {"operation_type": operation_type}, limit)

    async def get_modification_rates(self) -> JsonObject:
        return await self._get("/api/corrections/rates")
