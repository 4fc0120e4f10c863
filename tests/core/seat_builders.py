"""People, votes and requirements in one line each."""

from __future__ import annotations

from cairn.core.seats import Capacity, Delegation, People, Requirement, SeatGroup, SeatVote, is_approved, tally

STARTER = "starter"


def people_of(delegations: tuple[Delegation, ...] = (), **groups: str) -> People:
    """Users and their groups: `ann="finance legal"`. All of them can vote."""
    names = {user: frozenset({user, *text.split()}) for user, text in groups.items()}
    return People(names, frozenset(names), delegations)


def seats(*groups: str, not_by_starter: bool = False) -> Requirement:
    """One step: `seats("finance", "finance", "legal")` has three seats in two groups."""
    return steps(groups, not_by_starter=not_by_starter)


def steps(*of: tuple[str, ...], not_by_starter: bool = False) -> Requirement:
    """A step for each argument. The group "" stands for all approvers."""
    return Requirement(
        "rule",
        "global",
        tuple(
            tuple(SeatGroup((name,) if name else (), groups.count(name)) for name in dict.fromkeys(groups))
            for groups in of
        ),
        not_by_starter,
    )


def vote(actor: str, *delegators: str, own: bool = True) -> SeatVote:
    """A vote in the actor's own capacity and for these users."""
    delegated = tuple(Capacity(delegator, f"{delegator}-to-{actor}") for delegator in delegators)
    return SeatVote(actor, ((Capacity(actor),) if own else ()) + delegated)


def approves(people: People, votes: list[SeatVote], *requirements: Requirement) -> bool:
    return is_approved(tally(requirements, votes, people, STARTER))
