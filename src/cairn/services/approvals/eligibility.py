"""Which users can decide an approval, and whether there are enough of them."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core.approval import Approval
from cairn.core.states import ApprovalKind
from cairn.services.actors import Actor, Permission, Role, Scope
from cairn.services.identity.directory import UserIndex
from cairn.services.text import single_line

DECIDE = Permission(frozenset({Role.APPROVER.value}), frozenset({Scope.DECIDE.value}))
SUBMIT = Permission(
    frozenset({Role.EDITOR.value, Role.APPROVER.value}), frozenset({Scope.RUN.value, Scope.DECIDE.value})
)  # editors can submit forms too, because that doesn't approve any work


@dataclass(frozen=True, slots=True)
class Eligibility:
    """The conditions that a user must meet to decide an approval."""

    kind: ApprovalKind
    assigned_to: tuple[str, ...] = ()  # users, addresses, roles and groups; empty: all users with the permission
    excluded: str | None = None  # the user who started the run, if the terms exclude them
    required_approvals: int = 1
    approved_by: frozenset[str] = frozenset()

    @property
    def is_unrestricted(self) -> bool:
        """Whether any user with the permission can decide alone. One exists, as the user admin can't be removed."""
        return self.required_approvals == 1 and not self.assigned_to and self.excluded is None

    @property
    def permission(self) -> Permission:
        return SUBMIT if self.kind is ApprovalKind.INPUT else DECIDE

    def can_decide(self, actor: Actor) -> bool:
        if not actor.can(self.permission) or actor.name == self.excluded:
            return False
        return actor.is_admin or not self.assigned_to or actor.is_one_of(self.assigned_to)

    def warning(self, users: UserIndex) -> str | None:
        """A warning and its remedy if fewer users can decide than are required."""
        missing = self.required_approvals - len(self.approved_by)
        available = users.with_roles(self.permission.roles | {Role.ADMIN.value}) - self.approved_by - {self.excluded}
        assigned = available & users.resolve(self.assigned_to) if self.assigned_to else available
        if len(assigned) >= missing:
            return None
        if len(assigned | (available & users.with_roles({Role.ADMIN.value}))) >= missing:
            remedy = "An admin can decide instead, or assign it to other users."
        elif len(available) >= missing:
            remedy = "Assign it to other users."
        else:
            remedy = "Give more users the approver role."
        more = " more" if self.approved_by else ""
        decisions = f"{missing}{more} {'decision' if missing == 1 else 'decisions'}"
        excluded = ", not counting the user who started the run" if self.excluded is not None else ""
        return f"Needs {decisions}, but {self._who_can(len(assigned))} can decide{excluded}. {remedy}"

    def _who_can(self, count: int) -> str:
        if self.assigned_to:
            number = f"only {count}" if count else "none"
            return f"{number} of the assigned users ({single_line(', '.join(self.assigned_to))})"
        return f"only {count} {'user' if count == 1 else 'users'}" if count else "no user"


def eligibility_of(a: Approval, starter: str) -> Eligibility:
    return Eligibility(
        a.kind, a.assigned_to, starter if a.terms.not_by_starter else None, a.required_approvals, a.approved_by
    )
