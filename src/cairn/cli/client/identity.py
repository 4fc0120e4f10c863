"""Operations on users, groups, delegations, invitations, tokens, sessions and secrets."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from cairn.cli.client.transport import HttpCalls, JsonObject


class IdentityApi(HttpCalls):
    # ---- users and groups ----------------------------------------------------------------------------
    async def list_people(self, *, search: str = "", limit: int | None = None) -> JsonObject:
        return await self._pages("/api/people", {"search": search}, limit)

    async def list_users(self, *, search: str = "", deleted: bool = False, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/users", {"search": search, "deleted": deleted}, limit)

    async def create_user(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", "/api/users", body)

    async def get_user(self, name: str) -> JsonObject:
        return await self._get(f"/api/users/{_quoted(name)}")

    async def update_user(self, name: str, body: dict[str, Any]) -> JsonObject:
        return await self._send("PUT", f"/api/users/{_quoted(name)}", body)

    async def delete_user(self, name: str) -> JsonObject:
        return await self._send("DELETE", f"/api/users/{_quoted(name)}")

    async def restore_user(self, name: str) -> JsonObject:
        return await self._send("POST", f"/api/users/{_quoted(name)}/restore")

    async def list_groups(self, *, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/groups", {}, limit)

    async def create_group(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", "/api/groups", body)

    async def get_group(self, name: str) -> JsonObject:
        return await self._get(f"/api/groups/{_quoted(name)}")

    async def update_group(self, name: str, body: dict[str, Any]) -> JsonObject:
        return await self._send("PUT", f"/api/groups/{_quoted(name)}", body)

    async def delete_group(self, name: str) -> None:
        await self._send("DELETE", f"/api/groups/{_quoted(name)}")

    async def list_delegations(
        self, *, user: str | None = None, include_ended: bool = False, limit: int | None = None
    ) -> JsonObject:
        return await self._pages("/api/delegations", {"user": user, "all": include_ended}, limit)

    async def create_delegation(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", "/api/delegations", body)

    async def get_delegation(self, delegation_id: str) -> JsonObject:
        return await self._get(f"/api/delegations/{_quoted(delegation_id)}")

    async def end_delegation(self, delegation_id: str) -> JsonObject:
        return await self._send("DELETE", f"/api/delegations/{_quoted(delegation_id)}")

    # ---- invitations, tokens and sessions ------------------------------------------------------------
    async def list_invitations(self, *, include_ended: bool = False, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/invitations", {"all": include_ended}, limit)

    async def create_invitation(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", "/api/invitations", body)

    async def revoke_invitation(self, invitation_id: str) -> None:
        await self._send("DELETE", f"/api/invitations/{_quoted(invitation_id)}")

    async def list_tokens(
        self, *, user: str | None = None, include_ended: bool = False, limit: int | None = None
    ) -> JsonObject:
        return await self._pages("/api/tokens", {"user": user, "all": include_ended}, limit)

    async def create_token(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", "/api/tokens", body)

    async def revoke_token(self, token_id: str) -> JsonObject:
        return await self._send("DELETE", f"/api/tokens/{_quoted(token_id)}")

    async def list_own_tokens(self, *, include_ended: bool = False, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/me/tokens", {"all": include_ended}, limit)

    async def create_own_token(self, body: dict[str, Any]) -> JsonObject:
        return await self._send("POST", "/api/me/tokens", body)

    async def revoke_own_token(self, token_id: str) -> JsonObject:
        return await self._send("DELETE", f"/api/me/tokens/{_quoted(token_id)}")

    async def list_sessions(self, *, user: str | None = None, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/sessions", {"user": user}, limit)

    async def end_session(self, session_id: str) -> None:
        await self._send("DELETE", f"/api/sessions/{_quoted(session_id)}")

    async def end_sessions(self, *, user: str | None = None) -> JsonObject:
        return await self._send("DELETE", "/api/sessions", query={"user": user})

    async def update_me(self, display_name: str) -> JsonObject:
        return await self._send("PUT", "/api/me", {"display_name": display_name})

    async def change_password(self, current: str, new: str) -> None:
        await self._send("PUT", "/api/session/password", {"current": current, "new": new})

    # ---- secrets -------------------------------------------------------------------------------------
    async def list_secrets(self, *, limit: int | None = None) -> JsonObject:
        return await self._pages("/api/secrets", {}, limit)

    async def put_secret(self, name: str, value: str) -> JsonObject:
        return await self._send("PUT", f"/api/secrets/{_quoted(name)}", {"value": value})

    async def delete_secret(self, name: str) -> None:
        await self._send("DELETE", f"/api/secrets/{_quoted(name)}")

    async def rotate_secrets(self) -> JsonObject:
        return await self._send("POST", "/api/secrets/rotate")


def _quoted(name: str) -> str:
    return quote(name, safe="")
