"""Who may decide about an approval, and whether they are enough."""

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
)  # filling in a form is not a decision on somebody's work


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Whom an approval is put to."""

    kind: ApprovalKind
    asked_of: tuple[str, ...] = ()  # persons, addresses, roles, groups; none: whoever may decide at all
    barred: str | None = None  # who started the run, where nobody decides about a run of their own
    needed: int = 1
    agreed: frozenset[str] = frozenset()

    @property
    def is_anybody(self) -> bool:
        """One person of any kind will do, and there always is one: the user admin cannot be removed."""
        return self.needed == 1 and not self.asked_of and self.barred is None

    @property
    def allowed(self) -> Permission:
        return SUBMIT if self.kind is ApprovalKind.INPUT else DECIDE

    def may_decide(self, actor: Actor) -> bool:
        if not actor.can(self.allowed) or actor.name == self.barred:
            return False
        return actor.is_admin or not self.asked_of or actor.is_one_of(self.asked_of)

    def warning(self, roll: UserIndex) -> str | None:
        """What is told where too few people can decide."""
        left = self.needed - len(self.agreed)
        free = roll.holders(self.allowed.roles | {Role.ADMIN.value}) - self.agreed - {self.barred}
        asked = free & roll.meant(self.asked_of) if self.asked_of else free
        if len(asked) >= left:
            return None
        takes = f"It takes {left}{' more' if self.agreed else ''} {'person' if left == 1 else 'people'} to decide"
        those = f" of {single_line(', '.join(self.asked_of))}" if self.asked_of else ""
        beside = " beside who started the run" if self.barred is not None else ""
        remedy = "Give more people the role approver."
        if len(asked | (free & roll.holders({Role.ADMIN.value}))) >= left:
            remedy = "Admins may decide instead, or hand it over."
        elif len(free) >= left:
            remedy = "Hand it over to others."
        return f"{takes}, but {_only(asked)}{those} can{beside}. {remedy}"


def _only(people: frozenset[str]) -> str:
    return f"only {len(people)}" if people else "nobody"


def wanted_for(a: Approval, starter: str) -> Eligibility:
    return Eligibility(
        a.kind, a.assigned_to, starter if a.terms.not_by_starter else None, a.required_approvals, a.approved_by
    )
