"""Operations on runs and executions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from cairn.cli.client.transport import HttpCalls, JsonObject, StreamMessage


class RunsApi(HttpCalls):
    # ---- runs ----------------------------------------------------------------------------------------
    async def list_runs(
        self,
        *,
        pipeline_id: str | None = None,
        status: Sequence[str] = (),
        include_archived: bool = False,
        include_tests: bool = False,
        limit: int | None = None,
    ) -> JsonObject:
        query = {
            "pipeline_id": pipeline_id,
            "status": list(status),
            "include_archived": include_archived,
            "include_tests": include_tests,
        }
        return await self._pages("/api/runs", query, limit)

    async def list_pipeline_runs(
        self,
        pipeline_id: str,
        *,
        definition_version: int | None = None,
        include_archived: bool = False,
        include_tests: bool = False,
        limit: int | None = None,
    ) -> JsonObject:
        query = {
            "definition_version": definition_version,
            "include_archived": include_archived,
            "include_tests": include_tests,
        }
        return await self._pages(f"/api/pipelines/{pipeline_id}/runs", query, limit)

    async def create_run(
        self,
        pipeline_id: str,
        *,
        input: Any = None,
        original_prompt: str | None = None,
        start: bool = True,
        test: bool = False,
    ) -> JsonObject:
        body = {"pipeline_id": pipeline_id, "input": input, "start": start, "test": test}
        prompt = {} if original_prompt is None else {"original_prompt": original_prompt}
        return await self._send("POST", "/api/runs", {**body, **prompt})

    async def get_run(self, run_id: str) -> JsonObject:
        return await self._get(f"/api/runs/{run_id}")

    async def get_run_input(self, run_id: str) -> bytes:
        """The input as JSON text, because parsing it would round numbers."""
        return (await self._request("GET", f"/api/runs/{run_id}/input")).content

    async def list_run_executions(self, run_id: str, *, include_archived: bool = False) -> JsonObject:
        return await self._pages(f"/api/runs/{run_id}/checkpoints", {"include_archived": include_archived})

    async def start_run(self, run_id: str) -> JsonObject:
        return await self._send("POST", f"/api/runs/{run_id}/start")

    async def pause_run(self, run_id: str) -> JsonObject:
        return await self._send("POST", f"/api/runs/{run_id}/pause")

    async def resume_run(self, run_id: str) -> JsonObject:
        return await self._send("POST", f"/api/runs/{run_id}/resume")

    async def cancel_run(self, run_id: str) -> JsonObject:
        return await self._send("POST", f"/api/runs/{run_id}/cancel")

    async def restart_run(self, run_id: str, *, pass_number: int | None = None) -> JsonObject:
        return await self._send("POST", f"/api/runs/{run_id}/restart", {"pass_number": pass_number})

    async def retry_run(self, run_id: str) -> JsonObject:
        return await self._send("POST", f"/api/runs/{run_id}/retry")

    def stream_run(self, run_id: str, last_id: str = "") -> AsyncGenerator[StreamMessage]:
        return self._stream(f"/api/runs/{run_id}/stream", last_id)

    def stream_changes(self) -> AsyncGenerator[StreamMessage]:
        return self._stream("/api/stream")

    # ---- executions ----------------------------------------------------------------------------------
    async def get_execution(self, execution_id: str) -> JsonObject:
        return await self._get(f"/api/executions/{execution_id}")

    async def start_execution(
        self, *, execution_id: str | None = None, run_id: str | None = None, checkpoint_id: str | None = None
    ) -> JsonObject:
        target = {"execution_id": execution_id, "run_id": run_id, "checkpoint_id": checkpoint_id}
        return await self._send(
            "POST", "/api/executions/start", {name: value for name, value in target.items() if value}
        )

    async def upload_file(self, execution_id: str, file: Path) -> JsonObject:
        with file.open("rb") as content:
            files = {"file": (file.name, content, "application/octet-stream")}
            response = await self._request("POST", f"/api/executions/{execution_id}/files", files=files)
        return response.json()

    async def submit_form(self, execution_id: str, fields: Any, *, digest: str | None = None) -> JsonObject:
        body = {"fields": fields, **({"digest": digest} if digest is not None else {})}
        return await self._send("POST", f"/api/executions/{execution_id}/submit", body)

    async def retry_execution(self, execution_id: str, *, attempt: int | None = None) -> JsonObject:
        return await self._send("POST", f"/api/executions/{execution_id}/retry", {"attempt_number": attempt})

    async def cancel_execution(self, execution_id: str) -> JsonObject:
        return await self._send("POST", f"/api/executions/{execution_id}/cancel")

    async def list_logs(
        self, execution_id: str, *, level: Sequence[str] = (), search: str = "", limit: int | None = None
    ) -> JsonObject:
        query = {"level": list(level), "search": search}
        return await self._pages(f"/api/executions/{execution_id}/logs", query, limit)

    def download_logs(self, execution_id: str) -> AsyncGenerator[bytes]:
        return self._content(f"/api/executions/{execution_id}/logs/download")

    async def get_context(self, execution_id: str) -> JsonObject:
        return await self._get(f"/api/executions/{execution_id}/context")
