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
AWAY = (("cy", "bob"),)  # cy is away, bob decides for them


@pytest.mark.parametrize(
    ("conditions", "warning"),
    [
        ({}, None),
        ({"required_approvals": 3}, None),
        ({"required_approvals": 4}, mentions("4", "3", "approver")),
        ({"required_approvals": 4, "approved_by": {"ann"}}, mentions("3", "2", "approver")),
        ({"required_approvals": 2, "approved_by": {"ann"}}, None),
        ({"required_approvals": 2, "approved_by": {"gone"}}, None),
        (
            {"required_approvals": 3, "excluded": "ann"},
            mentions("3", "2", "approver"),
        ),
        ({"assigned_to": ("finance",)}, None),
        ({"assigned_to": ("finance",), "required_approvals": 2}, None),  # bob decides for cy
        (
            {"assigned_to": ("ann@example.com",), "required_approvals": 2},
            mentions("2", "1", "ann@example.com"),
        ),
        ({"assigned_to": ("ed", "nobody")}, mentions("1", "ed, nobody")),
        ({"assigned_to": ("ed",), "kind": ApprovalKind.INPUT}, None),
        ({"assigned_to": ("cy",), "kind": ApprovalKind.INPUT}, None),
        (
            {"assigned_to": ("ed",), "required_approvals": 3},
            mentions("3", "ed"),
        ),
        ({"assigned_to": ("ed",), "required_approvals": 4}, mentions("4", "ed", "approver")),
    ],
)
def test_a_warning_names_missing_approvers(conditions: dict[str, Any], warning: str | None) -> None:
    approved_by = frozenset(conditions.get("approved_by", ()))
    values: dict[str, Any] = {"kind": ApprovalKind.ACTION, **conditions, "approved_by": approved_by}
    assert Eligibility(**values).warning(UserIndex({p.name: p for p in PEOPLE}, AWAY)) == warning


def test_the_only_admin_cannot_approve_their_own_run() -> None:
    alone = UserIndex({"admin": ROOT}, ())
    assert Eligibility(ApprovalKind.START, excluded="admin").warning(alone) == mentions("1", "approver")
    assert Eligibility(ApprovalKind.START).is_unrestricted


@pytest.mark.asyncio(loop_scope="package")
async def test_the_warning_is_shown_while_approvers_are_missing(app: App) -> None:
    """Users are removed after the rule was saved: the queue, the approval and its run show the warning."""
    users = app.cairn.identity.users
    for name in ("lone-one", "lone-two"):
        await users.create(UserSpec(name, roles=("approver",)), actor=ADMIN)
    pipeline = await app.pipeline(step("goals"), form("other"))
    trigger = "{kind: completion, custom_field: {field: checkpoint.key, value: goals}}"
    action = "{require_approval_count: 2, approvers: [lone-one, lone-two]}"
    await rule(app, f"checkpoints: [{{name: two, trigger: {trigger}, action: {action}}}]", pipeline)
    run = await app.start(pipeline)

    async def pending() -> Approval:
        [approval] = await app.wait_until(lambda: app.run(run).pending_approvals or None)
        assert app.cairn.approval_queries.get_approval(approval.approval_id).warning == approval.warning
        return approval

    assert (await pending()).warning is None
    await users.remove("lone-two", ADMIN)
    with pytest.raises(DefinitionError):
        await rule(app, f"checkpoints: [{{name: two, trigger: {trigger}, action: {action}}}] # again", pipeline)
    assert (await pending()).warning == mentions("2", "1", "lone-one, lone-two")
    approval = await pending()
    await app.cairn.approvals.assign(approval.approval_id, ["lone-one", "admin"], "", actor=ADMIN)
    assert (await pending()).warning is None
    await app.decide(run, "goals", "approve")
    await users.remove("lone-one", ADMIN)
    assert (await pending()).warning == mentions("1", "lone-one, admin")
    await app.cairn.runs.cancel(run, actor=ADMIN)
    assert app.cairn.approval_queries.get_approval(approval.approval_id).warning is None
