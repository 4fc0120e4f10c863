"""Which seats an action needs, and whether the votes fill them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cairn.core.action import Action, ActionRequirement, ActionVote, History
from cairn.core.action_rules import AskingRule
from cairn.core.seats import People, Requirement, SeatVote, could_be_filled, free_groups, is_approved, tally

APPROVE, HAPPENED, DID_NOT_HAPPEN, SEND_AGAIN, GIVE_UP = (
    "approve",
    "happened",
    "did_not_happen",
    "send_again",
    "give_up",
)
EXECUTE_AGAIN, USE_EARLIER = "execute_again", "use_earlier"
ANY_APPROVER = (Requirement(),)


@dataclass(frozen=True, slots=True)
class Electorate:
    """Who can vote now, and who started the run."""

    people: People
    starter: str = ""


def with_requirements(action: Action, asking: Iterable[AskingRule]) -> Action:
    """Add the requirements of these rules. Requirements are never removed."""
    known = {(r.rule_id, r.base) for r in action.requirements}
    new = [
        ActionRequirement(rule.rule_id, rule.requirement, rule.requirement)
        for rule in asking
        if (rule.rule_id, rule.requirement) not in known
    ]
    return action.replace(requirements=(*action.requirements, *new)) if new else action


def required_seats(action: Action) -> tuple[Requirement, ...]:
    return tuple(requirement.current for requirement in action.requirements) or ANY_APPROVER


def cast(action: Action, vote: ActionVote) -> Action:
    """Replace the earlier vote of the same person."""
    others = tuple(v for v in action.votes if v.actor != vote.actor)
    return action.replace(votes=(*others, vote))


def valid_votes(action: Action, history: History, choice: str) -> tuple[SeatVote, ...]:
    """The votes for this choice on the current version. An approval also depends on the earlier actions shown."""
    if choice != APPROVE:
        return _seat_votes(v for v in action.votes if v.version == action.version and v.choice == choice)
    shown, is_repeat = history.shown_digest(action), bool(history.repeats(action))
    return _seat_votes(
        v
        for v in action.votes
        if v.version == action.version
        and v.choice == APPROVE
        and v.shown_digest == shown
        and (not is_repeat or v.on_repeat == EXECUTE_AGAIN)
    )


def _seat_votes(votes: Iterable[ActionVote]) -> tuple[SeatVote, ...]:
    return tuple(SeatVote(v.actor, v.capacities) for v in votes)


def is_agreed(action: Action, history: History, electorate: Electorate, choice: str = APPROVE) -> bool:
    votes = valid_votes(action, history, choice)
    return is_approved(tally(required_seats(action), votes, electorate.people, electorate.starter))


def has_seat(action: Action, actor: str, electorate: Electorate) -> bool:
    """Whether a vote of this person could fill a seat of the action at all."""
    vote = SeatVote(actor, electorate.people.capacities_of(actor))
    return any(_can_fill(requirement, vote, electorate) for requirement in required_seats(action))


def _can_fill(requirement: Requirement, vote: SeatVote, electorate: Electorate) -> bool:
    """Whether the vote fills a seat of any step, if no one else had voted."""
    for step in requirement.steps:
        alone = replace(requirement, steps=(step,))
        (empty,) = tally((alone,), (), electorate.people, electorate.starter)
        if free_groups(empty, vote, electorate.people, electorate.starter):
            return True
    return False


def unfillable(action: Action, votes: Sequence[SeatVote], electorate: Electorate) -> tuple[Requirement, ...]:
    """The requirements that the existing people can't fill."""
    return tuple(
        requirement
        for requirement in required_seats(action)
        if not could_be_filled(requirement, votes, electorate.people, electorate.starter)
    )
