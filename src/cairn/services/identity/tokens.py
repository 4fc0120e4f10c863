"""API tokens: shown once, stored as a digest, limited by scopes, and revoked immediately."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from cairn.services.actors import ALL_ROLES, ALL_SCOPES, Actor, Role, Scope
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import Forbidden, InvalidInput
from cairn.services.identity import records
from cairn.services.identity.credentials import LOCAL, new_secret, token_row
from cairn.services.identity.name_rules import line_of
from cairn.services.identity.users import lock_active_user
from cairn.store.errors import NotFound

MAX_NAME_LENGTH = 100
MAX_OWN_LIFETIME = timedelta(days=365)  # of tokens that users create for themselves
_SUBMITTERS = frozenset({Role.EDITOR.value, Role.APPROVER.value})
# The roles that can use each scope, in addition to admin.
USABLE_SCOPES: Mapping[str, frozenset[str]] = {
    Scope.READ.value: ALL_ROLES,
    Scope.RUN.value: _SUBMITTERS,
    Scope.DECIDE.value: _SUBMITTERS,
    Scope.DEFINE.value: frozenset({Role.EDITOR.value}),
    Scope.ADMIN.value: ALL_ROLES,
}


@dataclass(frozen=True, slots=True)
class TokenSpec:
    user: str
    name: str
    scopes: tuple[str, ...] | None = None  # None: no restriction
    days: int | None = None  # None: never expires


@dataclass(frozen=True, slots=True)
class CreatedToken:
    token_id: str
    token: str
    expires_at: datetime | None


class TokenService:
    def __init__(self, admin_changes: AdminChanges) -> None:
        self._changes = admin_changes

    async def create(self, spec: TokenSpec, actor: Actor) -> CreatedToken:
        """Create a token. Its secret cannot be read again later."""
        return await self._changes.apply(lambda change: _create(change, spec), actor)

    async def create_own(self, spec: TokenSpec, actor: Actor) -> CreatedToken:
        """Create a token for yourself. It must expire, and your roles must be able to use its scopes."""
        return await self._changes.apply(lambda change: _create_own(change, spec), actor)

    async def revoke_own(self, token_id: str, actor: Actor) -> None:
        """Revoke one of your own tokens. Tokens of other users are not found."""
        await self._changes.apply(lambda change: _revoke(change, token_id, own=True), actor)

    async def revoke(self, token_id: str, actor: Actor) -> None:
        """Revoke a token and end the sessions opened with it. Revoking it again changes nothing."""
        await self._changes.apply(lambda change: _revoke(change, token_id), actor)


def _create_own(change: AdminChange, spec: TokenSpec) -> CreatedToken:
    roles = change.actor.roles
    unusable = [scope for scope in spec.scopes or () if roles.isdisjoint(USABLE_SCOPES.get(scope, ()))]
    if unusable and not change.actor.is_admin:
        raise InvalidInput([("/scopes", f"None of your roles can use {', '.join(sorted(unusable))}.")])
    if spec.days is None or timedelta(days=spec.days) > MAX_OWN_LIFETIME:
        message = f"Your own tokens can be valid for at most {MAX_OWN_LIFETIME.days} days."
        raise InvalidInput([("/valid_days", message)])
    return _create(change, spec, ends_at=change.actor.token_expires_at)


def _create(change: AdminChange, spec: TokenSpec, ends_at: datetime | None = None) -> CreatedToken:
    """Create a token that expires at `ends_at` at the latest."""
    lock_active_user(change.connection, spec.user)
    name = line_of(spec.name, "/name", MAX_NAME_LENGTH)
    if not name or name == LOCAL:
        raise InvalidInput(
            [("/name", f"Enter what the token is for. The name {LOCAL} is reserved for the start link.")]
        )
    scopes = None if spec.scopes is None else sorted(set(spec.scopes))
    if scopes is not None and (not scopes or set(scopes) - ALL_SCOPES):
        raise InvalidInput([("/scopes", f"Choose at least one of {', '.join(sorted(ALL_SCOPES))}.")])
    if change.actor.scopes is not None and (scopes is None or set(scopes) - change.actor.scopes):
        raise Forbidden("You can't create a token with more scopes than the token you are using.")
    token = new_secret()
    expires_at = None if spec.days is None else change.at + timedelta(days=spec.days)
    if ends_at is not None:
        expires_at = ends_at if expires_at is None else min(expires_at, ends_at)
    row = token_row(token, spec.user, name, actor=change.actor, at=change.at, scopes=scopes, expires_at=expires_at)
    records.insert_token(change.connection, row)
    change.record("token_created", token_id=row["token_id"], user=spec.user, token=name, scopes=scopes)
    return CreatedToken(row["token_id"], token, expires_at)


def _revoke(change: AdminChange, token_id: str, *, own: bool = False) -> None:
    row = records.lock_token(change.connection, token_id)
    if row is None or (own and row.user_name != change.actor.name):
        raise NotFound("token", token_id)
    records.delete_sessions_of_token(change.connection, token_id)
    if row.revoked_at is None:
        records.revoke_token(change.connection, token_id, change.at)
        change.record("token_revoked", token_id=token_id, user=row.user_name, token=row.name)
