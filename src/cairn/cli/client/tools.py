"""Operations on tools."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from cairn.cli.client.transport import HttpCalls, JsonObject


class ToolsApi(HttpCalls):
    async def list_tools(self, *, state: str | None = None, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/tools", {"state": state}, limit)

    async def discover_tools(self) -> JsonObject:
        return await self._send("POST", "/api/tools/discover")

    async def get_tool(self, name: str) -> JsonObject:
        return await self._get(f"/api/tools/{quote(name, safe='')}")

    async def put_tool(self, name: str, body: dict[str, Any]) -> JsonObject:
        return await self._send("PUT", f"/api/tools/{quote(name, safe='')}", body)

    async def remove_tool(self, name: str) -> None:
        await self._send("DELETE", f"/api/tools/{quote(name, safe='')}")
