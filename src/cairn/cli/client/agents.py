"""The agent library."""

from __future__ import annotations

from urllib.parse import quote

from cairn.cli.client.transport import Answer, HttpCalls


class Agents(HttpCalls):
    async def list_agents(self, *, search: str = "", most: int | None = None) -> Answer:
        return await self._pages("/api/agents", {"search": search or None}, most)

    async def get_agent(self, name: str) -> tuple[Answer, str]:
        """As it is shown, and as YAML."""
        path = f"/api/agents/{quote(name, safe='')}"
        return await self._get(path), (await self._request("GET", path, query={"format": "yaml"})).text

    async def put_agent(self, name: str, text: bytes, media_type: str) -> Answer:
        return await self._send_document("PUT", f"/api/agents/{quote(name, safe='')}", text, media_type)

    async def remove_agent(self, name: str) -> None:
        await self._send("DELETE", f"/api/agents/{quote(name, safe='')}")

    async def list_agent_revisions(self, name: str, *, most: int | None = None) -> Answer:
        return await self._pages(f"/api/agents/{quote(name, safe='')}/revisions", None, most)
