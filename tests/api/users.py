"""Users and tokens with the roles that a test needs."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.services.actors import ADMIN
from cairn.services.identity.tokens import TokenSpec
from cairn.services.identity.users import UserSpec
from cairn.store.errors import NotFound
from tests.api.app import App


async def ensure_user(app: App, *roles: str, name: str | None = None) -> str:
    """Return a user with these roles, created at the first call."""
    name = name or f"some-{'-'.join(roles) or 'nobody'}"
    try:
        app.cairn.identity.queries.get_user(name)
    except NotFound:
        await app.cairn.identity.users.create(UserSpec(name, roles=roles), ADMIN)
    return name


async def token_for(app: App, *roles: str, scopes: Sequence[str] | None = None, name: str | None = None) -> str:
    """Create a token for a user with these roles."""
    user = await ensure_user(app, *roles, name=name)
    spec = TokenSpec(user, "test", None if scopes is None else tuple(scopes))
    return (await app.cairn.identity.tokens.create(spec, ADMIN)).token


async def revoke_all(app: App, user: str) -> None:
    tokens = app.cairn.identity.queries.list_tokens(user=user, all=False, limit=500, cursor=None)
    for token in tokens.items:
        await app.cairn.identity.tokens.revoke(token.token_id, ADMIN)
