"""Operations on notification channels, deliveries and preferences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.cli.client.transport import HttpCalls, JsonObject


class NotificationsApi(HttpCalls):
    async def list_channels(self, *, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/channels", None, limit)

    async def create_channel(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", "/api/channels", body)

    async def get_channel(self, channel_id: str) -> JsonObject:
        return await self._get(f"/api/channels/{channel_id}")

    async def update_channel(self, channel_id: str, body: dict[str, Any]) -> JsonObject:
        return await self._send("PUT", f"/api/channels/{channel_id}", body)

    async def delete_channel(self, channel_id: str) -> JsonObject:
        return await self._send("DELETE", f"/api/channels/{channel_id}")

    async def test_channel(self, channel_id: str, recipient: str | None = None) -> JsonObject:
        return await self._send("POST", f"/api/channels/{channel_id}/test", {"recipient": recipient})

    async def list_deliveries(
        self,
        *,
        channel_id: str | None = None,
        run_id: str | None = None,
        status: Sequence[str] = (),
        kind: Sequence[str] = (),
        limit: int | None = None,
    ) -> JsonObject:
        query = {"channel_id": channel_id, "run_id": run_id, "status": list(status), "kind": list(kind)}
        return await self._pages("/api/deliveries", query, limit)

    async def get_delivery(self, delivery_id: str) -> JsonObject:
        return await self._get(f"/api/deliveries/{delivery_id}")

    async def get_preferences(self) -> JsonObject:
        return await self._get("/api/preferences")

    async def set_preferences(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("PUT", "/api/preferences", body)
