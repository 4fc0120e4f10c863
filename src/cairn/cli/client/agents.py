"""Operations on the agent library."""

from __future__ import annotations

from urllib.parse import quote

from cairn.cli.client.transport import HttpCalls, JsonObject


class AgentsApi(HttpCalls):
    async def list_agents(self, *, search: str = "", limit: int | None = None) -> JsonObject:
        return await self._pages("/api/agents", {"search": search or None}, limit)

    async def get_agent(self, name: str) -> tuple[JsonObject, str]:
        """The agent, and its YAML text."""
        path = f"/api/agents/{quote(name, safe='')}"
        return await self._get(path), (await self._request("GET", path, query={"format": "yaml"})).text

    async def put_agent(self, name: str, text: bytes, media_type: str) -> JsonObject:
        return await self._send_document("PUT", f"/api/agents/{quote(name, safe='')}", text, media_type)

    async def delete_agent(self, name: str) -> None:
        await self._send("DELETE", f"/api/agents/{quote(name, safe='')}")

    async def list_agent_revisions(self, name: str, *, limit: int | None = None) -> JsonObject:
        return await self._pages(f"/api/agents/{quote(name, safe='')}/revisions", None, limit)
