"""Operations on models."""

from __future__ import annotations

from cairn.cli.client.transport import HttpCalls, JsonObject


class ModelsApi(HttpCalls):
    async def list_models(self) -> JsonObject:
        return await self._get("/api/models")

    async def test_model(self, name: str | None = None) -> JsonObject:
        return await self._send("POST", "/api/models/test", {"model": name})
