"""Operations about people, what lets them in, and secrets."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from cairn.cli.client.transport import Answer, HttpCalls


class IdentityApi(HttpCalls):
    # ---- users and groups ----------------------------------------------------------------------------
    async def list_people(self, *, search: str = "", most: int | None = None) -> Answer:
        return await self._pages("/api/people", {"search": search}, most)

    async def list_users(self, *, search: str = "", removed: bool = False, most: int | None = None) -> Answer:
        return await self._pages("/api/users", {"search": search, "removed": removed}, most)

    async def create_user(self, wanted: dict[str, Any]) -> Answer:
        return await self._send("POST", "/api/users", wanted)

    async def get_user(self, name: str) -> Answer:
        return await self._get(f"/api/users/{_named(name)}")

    async def update_user(self, name: str, wanted: dict[str, Any]) -> Answer:
        return await self._send("PUT", f"/api/users/{_named(name)}", wanted)

    async def remove_user(self, name: str) -> Answer:
        return await self._send("DELETE", f"/api/users/{_named(name)}")

    async def restore_user(self, name: str) -> Answer:
        return await self._send("POST", f"/api/users/{_named(name)}/restore")

    async def list_groups(self, *, most: int | None = None) -> Answer:
        return await self._pages("/api/groups", {}, most)

    async def create_group(self, wanted: dict[str, Any]) -> Answer:
        return await self._send("POST", "/api/groups", wanted)

    async def get_group(self, name: str) -> Answer:
        return await self._get(f"/api/groups/{_named(name)}")

    async def update_group(self, name: str, wanted: dict[str, Any]) -> Answer:
        return await self._send("PUT", f"/api/groups/{_named(name)}", wanted)

    async def remove_group(self, name: str) -> None:
        await self._send("DELETE", f"/api/groups/{_named(name)}")

    async def list_delegations(self, *, user: str | None = None, over: bool = False, most: int | None = None) -> Answer:
        return await self._pages("/api/delegations", {"user": user, "all": over}, most)

    async def create_delegation(self, wanted: dict[str, Any]) -> Answer:
        return await self._send("POST", "/api/delegations", wanted)

    async def get_delegation(self, delegation_id: str) -> Answer:
        return await self._get(f"/api/delegations/{_named(delegation_id)}")

    async def end_delegation(self, delegation_id: str) -> Answer:
        return await self._send("DELETE", f"/api/delegations/{_named(delegation_id)}")

    # ---- what lets them in ---------------------------------------------------------------------------
    async def list_invitations(self, *, over: bool = False, most: int | None = None) -> Answer:
        return await self._pages("/api/invitations", {"all": over}, most)

    async def create_invitation(self, wanted: dict[str, Any]) -> Answer:
        return await self._send("POST", "/api/invitations", wanted)

    async def revoke_invitation(self, invitation_id: str) -> None:
        await self._send("DELETE", f"/api/invitations/{_named(invitation_id)}")

    async def list_tokens(self, *, user: str | None = None, over: bool = False, most: int | None = None) -> Answer:
        return await self._pages("/api/tokens", {"user": user, "all": over}, most)

    async def create_token(self, wanted: dict[str, Any]) -> Answer:
        return await self._send("POST", "/api/tokens", wanted)

    async def revoke_token(self, token_id: str) -> Answer:
        return await self._send("DELETE", f"/api/tokens/{_named(token_id)}")

    async def list_own_tokens(self, *, over: bool = False, most: int | None = None) -> Answer:
        return await self._pages("/api/me/tokens", {"all": over}, most)

    async def create_own_token(self, wanted: dict[str, Any]) -> Answer:
        return await self._send("POST", "/api/me/tokens", wanted)

    async def revoke_own_token(self, token_id: str) -> Answer:
        return await self._send("DELETE", f"/api/me/tokens/{_named(token_id)}")

    async def list_sessions(self, *, user: str | None = None, most: int | None = None) -> Answer:
        return await self._pages("/api/sessions", {"user": user}, most)

    async def end_session(self, session_id: str) -> None:
        await self._send("DELETE", f"/api/sessions/{_named(session_id)}")

    async def end_sessions(self, *, user: str | None = None) -> Answer:
        return await self._send("DELETE", "/api/sessions", query={"user": user})

    async def update_me(self, display_name: str) -> Answer:
        return await self._send("PUT", "/api/me", {"display_name": display_name})

    async def change_password(self, current: str, new: str) -> None:
        await self._send("PUT", "/api/session/password", {"current": current, "new": new})

    # ---- secrets -------------------------------------------------------------------------------------
    async def list_secrets(self, *, most: int | None = None) -> Answer:
        return await self._pages("/api/secrets", {}, most)

    async def put_secret(self, name: str, value: str) -> Answer:
        return await self._send("PUT", f"/api/secrets/{_named(name)}", {"value": value})

    async def remove_secret(self, name: str) -> None:
        await self._send("DELETE", f"/api/secrets/{_named(name)}")

    async def rotate_secrets(self) -> Answer:
        return await self._send("POST", "/api/secrets/rotate")


def _named(name: str) -> str:
    return quote(name, safe="")
