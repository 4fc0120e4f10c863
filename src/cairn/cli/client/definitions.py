"""Operations on pipelines, definitions, checkpoints and scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import quote

from cairn.cli.client.transport import HttpCalls, JsonObject

YAML, JSON = "application/yaml", "application/json"


class DefinitionsApi(HttpCalls):
    # ---- pipelines -----------------------------------------------------------------------------------
    async def list_pipelines(self, *, deleted: bool = False, search: str = "", limit: int | None = None) -> JsonObject:
        return await self._pages("/api/pipelines", {"deleted": deleted, "search": search}, limit)

    async def create_pipeline(self, text: bytes, media_type: str = YAML) -> JsonObject:
        return await self._send_document("POST", "/api/pipelines", text, media_type)

    async def get_pipeline(self, pipeline_id: str) -> JsonObject:
        return await self._get(f"/api/pipelines/{pipeline_id}")

    async def replace_definition(
        self, pipeline_id: str, text: bytes, media_type: str = YAML, *, force: bool = False
    ) -> JsonObject:
        """Replace the whole definition. Fields that the text leaves out get their defaults."""
        path = f"/api/pipelines/{pipeline_id}/definition"
        return await self._send_document("PUT", path, text, media_type, query={"force": force})

    async def delete_pipeline(self, pipeline_id: str, *, force: bool = False) -> JsonObject:
        return await self._send("DELETE", f"/api/pipelines/{pipeline_id}", query={"force": force})

    async def restore_pipeline(self, pipeline_id: str) -> JsonObject:
        return await self._send("POST", f"/api/pipelines/{pipeline_id}/restore")

    async def list_templates(self) -> JsonObject:
        return await self._get("/api/templates")

    # ---- definitions ---------------------------------------------------------------------------------
    async def validate_definition(self, text: bytes, media_type: str = YAML) -> JsonObject:
        return await self._send_document("POST", "/api/definitions/validate", text, media_type)

    async def get_definition(self, pipeline_id: str, format: Literal["yaml", "json"] = "yaml") -> str:
        path = f"/api/pipelines/{pipeline_id}/definition"
        return (await self._request("GET", path, query={"format": format})).text

    async def list_revisions(self, pipeline_id: str, *, limit: int | None = None) -> JsonObject:
        return await self._pages(f"/api/pipelines/{pipeline_id}/history", None, limit)

    async def get_revision(self, pipeline_id: str, revision: int) -> JsonObject:
        return await self._get(f"/api/pipelines/{pipeline_id}/history/{revision}")

    async def diff_revisions(self, pipeline_id: str, before: int, after: int) -> JsonObject:
        return await self._get(f"/api/pipelines/{pipeline_id}/diff", {"from": before, "to": after})

    async def compare_definition(self, pipeline_id: str, text: bytes, media_type: str = YAML) -> JsonObject:
        """What saving the text would change."""
        return await self._send_document("POST", f"/api/pipelines/{pipeline_id}/diff", text, media_type)

    async def revert_pipeline(self, pipeline_id: str, revision: int, *, force: bool = False) -> JsonObject:
        body = {"revision": revision}
        return await self._send("POST", f"/api/pipelines/{pipeline_id}/revert", body, query={"force": force})

    # ---- checkpoints ---------------------------------------------------------------------------------
    async def add_checkpoint(
        self, pipeline_id: str, checkpoint: Any, *, position: int | None = None, force: bool = False
    ) -> JsonObject:
        query = {"position": position, "force": force}
        return await self._send("POST", f"/api/pipelines/{pipeline_id}/checkpoints", checkpoint, query=query)

    async def get_checkpoint(self, checkpoint_id: str) -> JsonObject:
        return await self._get(f"/api/checkpoints/{checkpoint_id}")

    async def update_checkpoint(self, checkpoint_id: str, changes: Any, *, if_match: int | None = None) -> JsonObject:
        return await self._send("PUT", f"/api/checkpoints/{checkpoint_id}", changes, if_match=if_match)

    async def delete_checkpoint(self, checkpoint_id: str, *, force: bool = False) -> JsonObject:
        return await self._send("DELETE", f"/api/checkpoints/{checkpoint_id}", query={"force": force})

    async def reorder_checkpoints(
        self, pipeline_id: str, order: Sequence[str], *, if_match: int | None = None, force: bool = False
    ) -> JsonObject:
        path, body = f"/api/pipelines/{pipeline_id}/checkpoint-order", {"checkpoint_order": list(order)}
        return await self._send("PUT", path, body, query={"force": force}, if_match=if_match)

    # ---- scripts -------------------------------------------------------------------------------------
    async def list_scripts(self, pipeline_id: str) -> JsonObject:
        return await self._get(f"/api/pipelines/{pipeline_id}/scripts")

    async def get_script(self, pipeline_id: str, path: str) -> str:
        return (await self._request("GET", f"/api/pipelines/{pipeline_id}/scripts/{quote(path)}")).text

    async def put_script(self, pipeline_id: str, path: str, text: bytes) -> JsonObject:
        script = f"/api/pipelines/{pipeline_id}/scripts/{quote(path)}"
        return await self._send_document("PUT", script, text, "text/x-python")

    async def delete_script(self, pipeline_id: str, path: str) -> JsonObject:
        return await self._send("DELETE", f"/api/pipelines/{pipeline_id}/scripts/{quote(path)}")
