"""Approvals: the queue, the decisions, what people correct."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.cli.client.transport import Answer, HttpCalls


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
        most: int | None = None,
    ) -> Answer:
        query: dict[str, Any] = {
            "status": list(status),
            "kind": list(kind),
            "pipeline_id": pipeline_id,
            "run_id": run_id,
            "mine": "true" if mine else None,
            "sort": sort,
        }
        return await self._pages("/api/approvals", query, most)

    async def get_approval(self, approval_id: str) -> Answer:
        return await self._get(f"/api/approvals/{approval_id}")

    async def decide_approval(
        self,
        approval_id: str,
        decision: str,
        *,
        digest: str | None = None,
        words: str = "",
        fields: Any = None,
        modified_params: dict[str, Any] | None = None,
    ) -> Answer:
        """The digest names what was looked at; decided is only that."""
        body: dict[str, Any] = {"feedback": words}
        if decision == "reject":
            body = {"reason": words}
        given = {"digest": digest, "fields": fields, "modified_params": modified_params}
        body |= {name: value for name, value in given.items() if value is not None}
        return await self._send("PUT", f"/api/approvals/{approval_id}/{decision}", body)

    async def decide_batch(self, items: list[dict[str, Any]], decision: str, *, words: str = "") -> Answer:
        body = {"items": items, "decision": decision, "feedback": words}
        return await self._send("POST", "/api/approvals/batch", body)

    async def preview_modification(self, approval_id: str, modified_params: dict[str, Any]) -> Answer:
        return await self._send("PUT", f"/api/approvals/{approval_id}/modify", {"modified_params": modified_params})

    async def assign_approval(self, approval_id: str, to: Sequence[str], *, reason: str = "") -> Answer:
        return await self._send(
            "PUT", f"/api/approvals/{approval_id}/assign", {"assigned_to": list(to), "reason": reason}
        )

    async def add_comment(self, approval_id: str, text: str) -> Answer:
        return await self._send("POST", f"/api/approvals/{approval_id}/comments", {"text": text})

    async def list_learning_cases(self, *, operation_type: str | None = None, most: int | None = None) -> Answer:
        return await self._pages("/api/learning/cases", {"operation_type": operation_type}, most)

    async def get_modification_rates(self) -> Answer:
        return await self._get("/api/learning/rates")
