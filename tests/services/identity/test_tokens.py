"""Tokens that users create for themselves: within their roles, with an expiry."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from cairn.api.app import operation_routes
from cairn.api.operations import READ
from cairn.services.actors import ADMIN, ALL_ROLES, Role, Scope
from cairn.services.errors import Forbidden, InvalidInput, Unauthenticated
from cairn.services.identity.tokens import USABLE_SCOPES, TokenSpec
from cairn.services.identity.users import UserUpdate
from cairn.store import Database
from cairn.store.errors import NotFound
from tests.services.accounts import CLIENT, AccountsHarness


@pytest.fixture
def harness(database: Database, tmp_path: Path) -> AccountsHarness:
    return AccountsHarness(database, tmp_path)


def test_the_usable_scopes_of_a_role_follow_from_the_operations() -> None:
    permissions = [route.operation.permission for route in operation_routes()]
    restricted = [permission for permission in permissions if permission is not None and permission != READ]
    found = {
        scope.value: frozenset(
            role for permission in restricted if scope.value in permission.scopes for role in permission.roles
        )
        for scope in Scope
    }
    assert {name: roles - {Role.ADMIN} for name, roles in found.items() if name != Scope.READ} == {
        name: roles - {Role.ADMIN} for name, roles in USABLE_SCOPES.items() if name != Scope.READ
    }
    assert USABLE_SCOPES[Scope.READ] == ALL_ROLES


async def test_users_create_use_and_revoke_their_own_tokens(harness: AccountsHarness) -> None:
    await harness.user("ann", "approver")
    ann, tokens = harness.actor("ann"), harness.identity.tokens
    created = await tokens.create_own(TokenSpec("ann", "my notebook", ("read", "decide"), 30), ann)
    used = await harness.authentication.authenticate(created.token)
    assert (used.name, used.scopes, used.token_expires_at) == ("ann", frozenset({"read", "decide"}), created.expires_at)
    await tokens.revoke_own(created.token_id, ann)
    with pytest.raises(Unauthenticated):
        await harness.authentication.authenticate(created.token)
    metadata = {"token_id": created.token_id, "user": "ann", "token": "my notebook"}
    assert harness.events()[-2:] == [
        ("token_created", "ann", {**metadata, "scopes": ["decide", "read"]}),
        ("token_revoked", "ann", metadata),
    ]


async def test_tokens_of_other_users_are_not_found(harness: AccountsHarness) -> None:
    await harness.user("ann", "approver")
    await harness.user("bob", "approver")
    tokens = harness.identity.tokens
    created = await tokens.create(TokenSpec("bob", "theirs", None, 1), ADMIN)
    with pytest.raises(NotFound):
        await tokens.revoke_own(created.token_id, harness.actor("ann"))
    assert (await harness.authentication.authenticate(created.token)).name == "bob"


@pytest.mark.parametrize(
    ("role", "scopes", "days", "path"),
    [
        ("viewer", ("run",), 1, "/scopes"),
        ("viewer", ("read", "decide"), 1, "/scopes"),
        ("approver", ("define",), 1, "/scopes"),
        ("editor", ("nonsense",), 1, "/scopes"),
        ("editor", (), 1, "/scopes"),
        ("editor", None, None, "/valid_days"),
        ("editor", None, 366, "/valid_days"),
    ],
)
async def test_own_tokens_with_useless_scopes_or_no_expiry_are_rejected(
    harness: AccountsHarness, role: str, scopes: tuple[str, ...] | None, days: int | None, path: str
) -> None:
    await harness.user("ann", role)
    with pytest.raises(InvalidInput) as caught:
        await harness.identity.tokens.create_own(TokenSpec("ann", "x", scopes, days), harness.actor("ann"))
    assert [pointer for pointer, _ in caught.value.errors] == [path]


async def test_a_token_cannot_create_a_token_with_more_scopes_or_a_later_expiry(harness: AccountsHarness) -> None:
    """Neither can a session that was opened with it."""
    await harness.user("ann", "editor", "approver")
    tokens = harness.identity.tokens
    first = await tokens.create_own(TokenSpec("ann", "first", ("admin", "run"), 10), harness.actor("ann"))
    actor = await harness.authentication.authenticate(first.token)
    with pytest.raises(Forbidden):
        await tokens.create_own(TokenSpec("ann", "wider", None, 5), actor)
    with pytest.raises(Forbidden):
        await tokens.create_own(TokenSpec("ann", "wider", ("decide",), 5), actor)
    later = await tokens.create_own(TokenSpec("ann", "later", ("run",), 90), actor)
    assert later.expires_at == first.expires_at
    signed_in = await harness.identity.sign_in.with_token(first.token, CLIENT)
    session = (await harness.authentication.session(signed_in.secret)).actor
    assert (await tokens.create_own(TokenSpec("ann", "s", ("run",), 90), session)).expires_at == first.expires_at
    sooner = await tokens.create_own(TokenSpec("ann", "sooner", ("run",), 5), actor)
    assert sooner.expires_at is not None
    assert first.expires_at is not None
    assert first.expires_at - sooner.expires_at > timedelta(days=4)


async def test_users_can_change_their_display_name(harness: AccountsHarness) -> None:
    await harness.user("ann", "viewer")
    await harness.identity.users.update("ann", UserUpdate(display_name="Ann A"), harness.actor("ann"))
    assert harness.identity.queries.get_user("ann").display_name == "Ann A"
    assert harness.events()[-1] == ("user_updated", "ann", {"user": "ann", "changed_fields": ["display_name"]})
