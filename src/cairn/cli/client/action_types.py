"""Operations on action types."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from cairn.cli.client.transport import HttpCalls, JsonObject


class ActionTypesApi(HttpCalls):
    async def list_action_types(self, *, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/actions/types", {}, limit)

    async def put_action_type(self, name: str, body: dict[str, Any]) -> JsonObject:
        return await self._send("PUT", f"/api/actions/types/{quote(name, safe='')}", body)

    async def remove_action_type(self, name: str) -> None:
        await self._send("DELETE", f"/api/actions/types/{quote(name, safe='')}")
