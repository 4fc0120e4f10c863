"""Channels, deliveries and preferences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cairn.cli.client.transport import Answer, HttpCalls


class NotificationsApi(HttpCalls):
    async def list_channels(self, *, most: int | None = None) -> Answer:
        return await self._pages("/api/channels", None, most)

    async def create_channel(self, wanted: dict[str, Any]) -> Answer:
        return await self._send("POST", "/api/channels", wanted)

    async def get_channel(self, channel_id: str) -> Answer:
        return await self._get(f"/api/channels/{channel_id}")

    async def update_channel(self, channel_id: str, wanted: dict[str, Any]) -> Answer:
        return await self._send("PUT", f"/api/channels/{channel_id}", wanted)

    async def delete_channel(self, channel_id: str) -> Answer:
        return await self._send("DELETE", f"/api/channels/{channel_id}")

    async def test_channel(self, channel_id: str, recipient: str | None = None) -> Answer:
        return await self._send("POST", f"/api/channels/{channel_id}/test", {"recipient": recipient})

    async def list_deliveries(
        self,
        *,
        channel_id: str | None = None,
        run_id: str | None = None,
        status: Sequence[str] = (),
        kind: Sequence[str] = (),
        most: int | None = None,
    ) -> Answer:
        query = {"channel_id": channel_id, "run_id": run_id, "status": list(status), "kind": list(kind)}
        return await self._pages("/api/deliveries", query, most)

    async def get_delivery(self, delivery_id: str) -> Answer:
        return await self._get(f"/api/deliveries/{delivery_id}")

    async def get_preferences(self) -> Answer:
        return await self._get("/api/preferences")

    async def set_preferences(self, wanted: dict[str, Any]) -> Answer:
        return await self._send("PUT", "/api/preferences", wanted)
