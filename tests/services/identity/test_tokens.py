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
from tests.services.accounts import HERE, Household


@pytest.fixture
def household(database: Database, tmp_path: Path) -> Household:
    return Household(database, tmp_path)


def test_which_roles_make_use_of_a_scope_follows_from_the_operations() -> None:
    permissions = [route.operation.permission for route in operation_routes()]
    narrowing = [allowed for allowed in permissions if allowed is not None and allowed != READ]
    found = {
        scope.value: frozenset(role for allowed in narrowing if scope.value in allowed.scopes for role in allowed.roles)
        for scope in Scope
    }
    assert {name: roles - {Role.ADMIN} for name, roles in found.items() if name != Scope.READ} == {
        name: roles - {Role.ADMIN} for name, roles in USABLE_SCOPES.items() if name != Scope.READ
    }
    assert USABLE_SCOPES[Scope.READ] == ALL_ROLES


async def test_one_makes_uses_and_revokes_ones_own(household: Household) -> None:
    await household.user("ann", "approver")
    ann, tokens = household.actor("ann"), household.accounts.tokens
    made = await tokens.create_own(TokenSpec("ann", "my notebook", ("read", "decide"), 30), ann)
    used = await household.access.authenticate(made.token)
    assert (used.name, used.scopes, used.token_expires_at) == ("ann", frozenset({"read", "decide"}), made.expires_at)
    await tokens.revoke_own(made.token_id, ann)
    with pytest.raises(Unauthenticated):
        await household.access.authenticate(made.token)
    about = {"token_id": made.token_id, "user": "ann", "token": "my notebook"}
    assert household.told()[-2:] == [
        ("token_created", "ann", {**about, "scopes": ["decide", "read"]}),
        ("token_revoked", "ann", about),
    ]


async def test_others_tokens_are_not_there(household: Household) -> None:
    await household.user("ann", "approver")
    await household.user("bob", "approver")
    tokens = household.accounts.tokens
    made = await tokens.create(TokenSpec("bob", "theirs", None, 1), ADMIN)
    with pytest.raises(NotFound):
        await tokens.revoke_own(made.token_id, household.actor("ann"))
    assert (await household.access.authenticate(made.token)).name == "bob"


@pytest.mark.parametrize(
    ("role", "scopes", "days", "where"),
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
async def test_more_than_ones_own_is_refused(
    household: Household, role: str, scopes: tuple[str, ...] | None, days: int | None, where: str
) -> None:
    await household.user("ann", role)
    with pytest.raises(InvalidInput) as wrong:
        await household.accounts.tokens.create_own(TokenSpec("ann", "x", scopes, days), household.actor("ann"))
    assert [path for path, _ in wrong.value.errors] == [where]


async def test_a_token_makes_none_that_may_more_or_lasts_longer(household: Household) -> None:
    """Nor does a session that was opened with it."""
    await household.user("ann", "editor", "approver")
    tokens = household.accounts.tokens
    first = await tokens.create_own(TokenSpec("ann", "first", ("admin", "run"), 10), household.actor("ann"))
    by = await household.access.authenticate(first.token)
    with pytest.raises(Forbidden):
        await tokens.create_own(TokenSpec("ann", "wider", None, 5), by)
    with pytest.raises(Forbidden):
        await tokens.create_own(TokenSpec("ann", "wider", ("decide",), 5), by)
    later = await tokens.create_own(TokenSpec("ann", "later", ("run",), 90), by)
    assert later.expires_at == first.expires_at
    signed_in = await household.accounts.sign_in.with_token(first.token, HERE)
    session = (await household.access.session(signed_in.secret)).actor
    assert (await tokens.create_own(TokenSpec("ann", "s", ("run",), 90), session)).expires_at == first.expires_at
    sooner = await tokens.create_own(TokenSpec("ann", "sooner", ("run",), 5), by)
    assert sooner.expires_at is not None
    assert first.expires_at is not None
    assert first.expires_at - sooner.expires_at > timedelta(days=4)


async def test_one_says_how_one_is_shown(household: Household) -> None:
    await household.user("ann", "viewer")
    await household.accounts.users.update("ann", UserUpdate(display_name="Ann A"), household.actor("ann"))
    assert household.accounts.queries.user("ann").display_name == "Ann A"
    assert household.told()[-1] == ("user_updated", "ann", {"user": "ann", "changed_fields": ["display_name"]})
