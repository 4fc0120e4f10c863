"""Whether enough users can decide."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.core.states import ApprovalKind
from cairn.definitions import DefinitionError
from cairn.services.actors import ADMIN
from cairn.services.approvals.eligibility import Eligibility
from cairn.services.approvals.views import Approval
from cairn.services.identity.directory import DirectoryEntry, UserIndex
from cairn.services.identity.users import UserSpec
from tests.mentions import mentions
from tests.services.app import App, form, step
from tests.services.rule_files import rule


def person(name: str, *roles: str, group: str = "") -> DirectoryEntry:
    return DirectoryEntry(name, f"{name}@example.com", name, frozenset(roles), frozenset({group} - {""}))


ROOT = DirectoryEntry("admin", "", "Administrator", ADMIN.roles)
PEOPLE = (
    ROOT,
    person("ann", "approver", group="finance"),
    person("bob", "approver"),
    person("cy", "viewer", group="finance"),
    person("ed", "editor"),
)
AWAY = (("cy", "bob"),)  # cy is away, bob stands for them


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({}, None),
        ({"needed": 3}, None),
        ({"needed": 4}, mentions("4", "3", "approver")),
        ({"needed": 4, "agreed": {"ann"}}, mentions("3", "2", "approver")),
        ({"needed": 2, "agreed": {"ann"}}, None),
        ({"needed": 2, "agreed": {"gone"}}, None),
        (
            {"needed": 3, "barred": "ann"},
            mentions("3", "2", "approver"),
        ),
        ({"asked_of": ("finance",)}, None),
        ({"asked_of": ("finance",), "needed": 2}, None),  # bob stands for one of them
        (
            {"asked_of": ("ann@example.com",), "needed": 2},
            mentions("2", "1", "ann@example.com"),
        ),
        ({"asked_of": ("ed", "nobody")}, mentions("1", "ed, nobody")),
        ({"asked_of": ("ed",), "kind": ApprovalKind.INPUT}, None),
        ({"asked_of": ("cy",), "kind": ApprovalKind.INPUT}, None),
        (
            {"asked_of": ("ed",), "needed": 3},
            mentions("3", "ed"),
        ),
        ({"asked_of": ("ed",), "needed": 4}, mentions("4", "ed", "approver")),
    ],
)
def test_too_few_are_told(wanted: dict[str, Any], told: str | None) -> None:
    given: dict[str, Any] = {"kind": ApprovalKind.ACTION, **wanted, "agreed": frozenset(wanted.get("agreed", ()))}
    assert Eligibility(**given).warning(UserIndex({p.name: p for p in PEOPLE}, AWAY)) == told


def test_one_admin_alone_cannot_approve_their_own() -> None:
    alone = UserIndex({"admin": ROOT}, ())
    assert Eligibility(ApprovalKind.START, barred="admin").warning(alone) == mentions("1", "approver")
    assert Eligibility(ApprovalKind.START).is_anybody


@pytest.mark.asyncio(loop_scope="package")
async def test_it_is_told_when_it_is_met_and_as_long_as_it_holds(app: App) -> None:
    """People leave after the rule was saved: the approval says so in the queue, on its page and in its run."""
    users = app.cairn.accounts.users
    for name in ("lone-one", "lone-two"):
        await users.create(UserSpec(name, roles=("approver",)), actor=ADMIN)
    pipeline = await app.pipeline(step("goals"), form("other"))
    trigger = "{kind: completion, custom_field: {field: checkpoint.key, value: goals}}"
    action = "{require_approval_count: 2, approvers: [lone-one, lone-two]}"
    await rule(app, f"checkpoints: [{{name: two, trigger: {trigger}, action: {action}}}]", pipeline)
    run = await app.start(pipeline)

    async def asked() -> Approval:
        [one] = await app.until(lambda: app.run(run).waiting_approvals or None)
        assert app.cairn.approval_queries.get_approval(one.approval_id).warning == one.warning
        return one

    assert (await asked()).warning is None
    await users.remove("lone-two", ADMIN)
    with pytest.raises(DefinitionError):
        await rule(app, f"checkpoints: [{{name: two, trigger: {trigger}, action: {action}}}] # again", pipeline)
    assert (await asked()).warning == mentions("2", "1", "lone-one, lone-two")
    one = await asked()
    await app.cairn.approvals.hand_over(one.approval_id, ["lone-one", "admin"], "", actor=ADMIN)
    assert (await asked()).warning is None
    await app.decide(run, "goals", "approve")
    await users.remove("lone-one", ADMIN)
    assert (await asked()).warning == mentions("1", "lone-one, admin")
    await app.cairn.runs.cancel(run, actor=ADMIN)
    assert app.cairn.approval_queries.get_approval(one.approval_id).warning is None
