"""An action that would leave Cairn: proposed, judged, started once, with its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any, NamedTuple

from cairn.core.frozen import Replaceable
from cairn.core.rule_verdict import RiskLevel
from cairn.core.seats import Capacity, Requirement
from cairn.core.states import EXECUTED, NOT_STARTED, ActionEffect, ActionState

BY_PEOPLE = "people"
BY_OVERRIDE = "override"  # an admin, with a reason
BY_DEFAULT = "default"  # low risk, and no rule requires approval
BY_RULE = "rule:"  # with the id of the rule


class Place(NamedTuple):
    """Where an action is proposed: in which family of runs, at which checkpoint and for which item."""

    family: str
    checkpoint: str  # its id, which a new key doesn't change
    item: str = ""


@dataclass(frozen=True, slots=True)
class LimitUse:
    """What a rule's approval takes from its limit."""

    rule: str  # id
    window: str  # such as an hour, a day or a family
    amount: Decimal | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class ActionRequirement:
    """The seats that a rule requires for an action. It stays, even if the rule is removed."""

    rule_id: str
    base: Requirement  # as the rule defined it
    current: Requirement  # after hand-overs and escalations


@dataclass(frozen=True, slots=True)
class ActionVote:
    """The current vote of a person on one version of an action."""

    actor: str
    capacities: tuple[Capacity, ...]
    version: int
    choice: str  # approve, happened, did_not_happen or send_again
    on_repeat: str | None  # execute_again, if earlier actions were shown
    shown_digest: str
    at: datetime


@dataclass(frozen=True)
class Action(Replaceable):
    id: str
    place: Place
    run: str
    execution: str
    operation: str
    effect: ActionEffect
    risk: RiskLevel
    identity: str  # keyed digest of the parameters that make two actions the same
    content_digest: str  # of the resolved request
    call_digest: str  # of what was proposed, before references were resolved
    proposed_at: datetime
    generation: int = 0
    state: ActionState = ActionState.PROPOSED
    reason: str = ""  # of the state
    version: int = 1  # of the content; a modification creates the next one
    occurrence: int | None = None  # distinguishes intended repeats
    approved_by: str = ""  # BY_PEOPLE, BY_DEFAULT or BY_RULE with the rule's id
    approved_until: datetime | None = None
    limit_use: LimitUse | None = None
    modified: bool = False
    untrusted: bool = False  # something from outside entered the proposal's context
    is_handed_over: bool = False  # the proposer carries it out
    is_idempotent: bool = False  # its receiver ignores a repeated key
    by_script: bool = False
    was_unknown: bool = False
    settled: bool = False  # people gave up on an unknown outcome
    resend_permitted: bool = False
    sends: int = 0
    start_seq: int | None = None
    owner: str = ""  # the server process that started it
    answered: bool = False  # the receiver answered, so its key is used up
    result: Any = field(default=None, compare=False)
    reused_of: str | None = None
    reported_by: str = ""  # proposer, assumed, person or sender
    requirements: tuple[ActionRequirement, ...] = ()  # of every rule that has required approval; empty: any approver
    votes: tuple[ActionVote, ...] = ()  # the last one of each person

    @property
    def is_executed(self) -> bool:
        return self.state in EXECUTED

    @property
    def is_open(self) -> bool:
        """Whether it can still be approved or started for the first time."""
        return self.state in NOT_STARTED

    @property
    def is_unsettled(self) -> bool:
        """Whether its outcome is an open question."""
        return self.state is ActionState.UNKNOWN and not self.settled

    @property
    def rule(self) -> str:
        """The id of the rule that approved it, or an empty string."""
        return self.approved_by.removeprefix(BY_RULE) if self.approved_by.startswith(BY_RULE) else ""


class Refusal(NamedTuple):
    """A person's no. It keeps rules from approving the operation."""

    operation: str
    place: Place
    identity: str
    kind: str  # reject, revise, revoke or modify
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class History:
    """The other actions of the same operation in the family, and people's refusals."""

    others: tuple[Action, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    replayed: frozenset[str] = frozenset()  # actions whose outcomes this execution has already been given again

    def of(self, action: Action) -> History:
        """The history without the action itself."""
        return History(tuple(a for a in self.others if a.id != action.id), self.refusals, self.replayed)

    def equal(self, action: Action) -> tuple[Action, ...]:
        """Actions with the same identity that are approved, executed or were ever unknown."""
        return tuple(
            a
            for a in self.others
            if a.identity == action.identity and (a.is_executed or a.state is ActionState.APPROVED or a.was_unknown)
        )

    def earlier(self, action: Action) -> tuple[Action, ...]:
        """Actions at the same place in an earlier generation that were executed or ever unknown.

        A script that is called again continues after the outcomes that it was given, so they don't count.
        """
        return tuple(
            a
            for a in self.others
            if a.place == action.place
            and a.generation < action.generation
            and (a.is_executed or a.was_unknown)
            and not (action.by_script and a.id in self.replayed and a.state is ActionState.DONE)
        )

    def repeats(self, action: Action) -> tuple[Action, ...]:
        """The actions that people see before they decide on a repeat, oldest first."""
        if action.effect is not ActionEffect.CHANGES:
            return ()
        found = {a.id: a for a in (*self.equal(action), *self.earlier(action))}
        shown = (a for a in found.values() if a.is_executed or a.state is ActionState.APPROVED)
        return tuple(sorted(shown, key=lambda a: (a.proposed_at, a.id)))

    def refused(self, action: Action) -> bool:
        """Whether a person's no keeps rules from approving the action."""
        return any(_applies(refusal, action) for refusal in self.refusals)

    def unsettled_here(self, action: Action) -> bool:
        return any(a.is_unsettled and a.place == action.place for a in self.others)

    def blocking(self, action: Action) -> Action | None:
        """An equal action that has to be decided or finished first."""
        undecided = (ActionState.APPROVED, ActionState.STARTED, ActionState.HANDED_OVER)
        return next((a for a in self._equal_changes(action) if a.state in undecided or a.is_unsettled), None)

    def being_executed(self, action: Action) -> Action | None:
        """An equal action whose execution has not ended, or whose outcome is an open question."""
        started = (ActionState.STARTED, ActionState.HANDED_OVER)
        return next((a for a in self._equal_changes(action) if a.state in started or a.is_unsettled), None)

    def _equal_changes(self, action: Action) -> tuple[Action, ...]:
        return self.equal(action) if action.effect is ActionEffect.CHANGES else ()

    def next_occurrence(self, action: Action) -> int:
        """One more than the highest of the approved, executed and answered equal actions.

        A failure that the receiver did not answer left its key unused. What people deny after an unknown outcome keeps
        its key too: should they be wrong, the receiver recognizes it.
        """
        return 1 + max((a.occurrence or 0 for a in self.others if _uses_key(a, action)), default=0)

    def shown_digest(self, action: Action) -> str:
        """The digest that decisions are bound to: the content with the earlier actions that were shown."""
        parts = [str(action.version), action.content_digest]
        parts += [f"{a.id} {a.state.value}" for a in self.repeats(action)]
        return sha256("\n".join(parts).encode()).hexdigest()


def _applies(refusal: Refusal, action: Action) -> bool:
    if refusal.operation != action.operation or refusal.place.family != action.place.family:
        return False
    if refusal.kind == "modify":
        return refusal.place == action.place
    items = (refusal.place.item, action.place.item)
    return refusal.identity == action.identity or not all(items) or items[0] == items[1]


def _uses_key(other: Action, action: Action) -> bool:
    if other.identity != action.identity:
        return False
    has_failed = other.state is ActionState.FAILED and other.answered and not other.was_unknown
    return other.is_executed or other.state is ActionState.APPROVED or has_failed
