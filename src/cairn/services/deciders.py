"""Who may decide about an approval (H3, D29)."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core.model import Kind
from cairn.services.actors import Actor, Allowed, Role, Scope

DECIDE = Allowed(frozenset({Role.APPROVER.value}), frozenset({Scope.DECIDE.value}))
SUBMIT = Allowed(
    frozenset({Role.EDITOR.value, Role.APPROVER.value}), frozenset({Scope.RUN.value, Scope.DECIDE.value})
)  # filling in a form is not a decision on somebody's work


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whom an approval is put to."""

    kind: Kind
    asked_of: tuple[str, ...]  # persons, addresses, roles, groups; none: whoever may decide at all
    barred: str | None  # who started the run, where nobody decides about a run of their own

    @property
    def allowed(self) -> Allowed:
        return SUBMIT if self.kind is Kind.INPUT else DECIDE

    def may_decide(self, by: Actor) -> bool:
        if not by.may(self.allowed) or by.name == self.barred:
            return False
        return by.is_admin or not self.asked_of or by.is_one_of(self.asked_of)
