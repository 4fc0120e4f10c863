"""Models that agents think with."""

from __future__ import annotations

from cairn.cli.client.transport import Answer, HttpCalls


class ModelsApi(HttpCalls):
    async def list_models(self) -> Answer:
        return await self._get("/api/models")

    async def test_model(self, name: str | None = None) -> Answer:
        return await self._send("POST", "/api/models/test", {"model": name})
