"""Cast a decision on an action: check that it is possible, count the votes and change the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

from cairn.core.action import BY_OVERRIDE, BY_PEOPLE, Action, ActionVote, Refusal
from cairn.core.action_judgment import Circumstances
from cairn.core.action_transitions import ActionTransition, move
from cairn.core.action_votes import (
    APPROVE,
    EXECUTE_AGAIN,
    GIVE_UP,
    HAPPENED,
    SEND_AGAIN,
    USE_EARLIER,
    Electorate,
    cast,
    has_seat,
    is_agreed,
    required_seats,
    valid_votes,
    with_requirements,
)
from cairn.core.commands import ActionDecided, CommandContext
from cairn.core.errors import CommandRefused, NotAllowed, StaleCommand
from cairn.core.seats import tally
from cairn.core.states import CLOSED, ActionState, ApprovalStatus, WaitingOn
from cairn.services.actions import event_records
from cairn.services.actions.approval_requests import asked_people
from cairn.services.actions.circumstances import ActionView, CircumstancesReader, read_electorate
from cairn.services.actions.decisions import MODIFY, REFUSALS, SETTLEMENTS, ActionDecision, RepeatUndecided
from cairn.services.actions.proposals import APPROVAL_HOURS
from cairn.services.actions.sender import read_view
from cairn.services.actors import Actor
from cairn.store import Connection, LoadedRun
from cairn.store.actions import ledger
from cairn.store.errors import NotFound
from cairn.store.events.chain import EventRecord


@dataclass(frozen=True, slots=True)
class CastBallot:
    """The action after a decision, with what to save."""

    after: Action
    decision: ActionDecision
    status: ApprovalStatus | None  # of the approval; None: more votes are needed
    shown_digest: str
    filled: int = 1
    required: int = 1
    refusal: tuple[str, Refusal] | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    events: tuple[EventRecord, ...] = ()

    def command(self, approval: str) -> ActionDecided:
        d = self.decision
        choice = USE_EARLIER if self.after.state is ActionState.REUSED else d.choice
        assigned_to = asked_people(self.after) if choice == MODIFY else None
        return ActionDecided(
            approval, choice, self.status, self.shown_digest, d.feedback, None, self.required, self.filled, assigned_to
        )

    def save(self, connection: Connection, before: Action, context: CommandContext) -> None:
        ledger.save_action(connection, before, self.after, **self.details)
        if self.after.version != before.version and self.decision.new_content is not None:
            ledger.insert_version(connection, self.after, self.decision.new_content.parameters, context.by, context.at)
        if self.refusal is not None:
            ledger.insert_refusal(connection, self.refusal[1], self.refusal[0])


class Ballot:
    """One decision of one person. `refusals` are the noes to write to the journal."""

    def __init__(self, reader: CircumstancesReader, decision: ActionDecision, actor: Actor) -> None:
        self._reader = reader
        self._decision = decision
        self._actor = actor
        self.refusals: list[tuple[str, Refusal]] = []

    def cast(
        self, connection: Connection, loaded: LoadedRun | None, action: Action, context: CommandContext
    ) -> CastBallot:
        """`loaded` is None if a restored database lacks the run. Then only the outcome can be decided."""
        self.refusals.clear()
        if self._decision.choice in REFUSALS:
            return self._refuse(action, context)
        electorate = read_electorate(connection, action.place.family, context.at)
        if self._actor.name not in electorate.people.approvers:
            raise NotAllowed("Only approvers can decide on actions.")
        if self._decision.choice in SETTLEMENTS:
            return self._settle(connection, loaded, action, electorate, context)
        if loaded is None:
            raise NotFound("run", action.run)
        return self._vote(connection, loaded, action, electorate, context)

    # A person's no
    def _refuse(self, action: Action, context: CommandContext) -> CastBallot:
        """Anyone who can decide can say no, also while actions are stopped or held."""
        choice = self._decision.choice
        after = move(action, ActionTransition.REJECT, reason=self._decision.feedback, limit_use=None)
        refusal = self._refusal(action, choice, context)
        event = event_records.state_event(after, refusal=choice, refused_by=context.by)
        status = REFUSALS[choice]
        return CastBallot(
            after,
            self._decision,
            status,
            action.content_digest,
            refusal=refusal,
            events=(event,),
            details={"ended_at": context.at},
        )

    def _refusal(self, action: Action, kind: str, context: CommandContext) -> tuple[str, Refusal]:
        refusal = Refusal(action.operation, action.place, action.identity, kind, context.by, context.at)
        found = (str(uuid4()), refusal)
        self.refusals.append(found)
        return found

    # Approving
    def _vote(
        self,
        connection: Connection,
        loaded: LoadedRun,
        action: Action,
        electorate: Electorate,
        context: CommandContext,
    ) -> CastBallot:
        decision = self._decision
        if action.state is not ActionState.WAITING:
            raise CommandRefused(f"The action is no longer waiting. It is {_label(action)}.")
        self._check_assigned(loaded, action)
        c = self._reader.read(connection, loaded, action, read_view(connection, action), context.at)
        if c.gate.held:
            raise CommandRefused(f"{c.gate.explanation} Until then, you can only reject or send back actions.")
        self._check_shown(action, c)
        refusal: tuple[str, Refusal] | None = None
        details: dict[str, Any] = {}
        events: tuple[EventRecord, ...] = ()
        if decision.choice == MODIFY:
            refusal = self._refusal(action, MODIFY, context)
            action, details, events = self._modified(action)
            view = ActionView(details["content"], details["facts"], None, details["currency"])
            c = self._reader.read(connection, loaded, action, view, context.at)
            action = with_requirements(action, c.rules.asking)
            if c.history.repeats(action):  # the modifier has to see them first
                return CastBallot(
                    action, decision, None, c.history.shown_digest(action), 0, _seats(action), refusal, details, events
                )
        return self._approve(action, c, electorate, context, refusal, details, events)

    def _check_assigned(self, loaded: LoadedRun, action: Action) -> None:
        for a in loaded.run.pending_of(action.execution):
            is_assigned = not a.assigned_to or self._actor.is_admin or self._actor.is_one_of(a.assigned_to)
            if a.action == action.id and not is_assigned:
                text = f"This approval is assigned to {', '.join(a.assigned_to)}."
                raise NotAllowed(text, ("assign it to other people",))

    def _check_shown(self, action: Action, c: Circumstances) -> None:
        shown, current = self._decision.shown_digest, c.history.shown_digest(action)
        if shown is not None and shown not in (current, action.content_digest):
            raise StaleCommand("The action has changed since you looked at it. Review it again, then decide.")
        if shown != current and (c.history.repeats(action) or action.untrusted) and not self._decision.on_repeat:
            raise RepeatUndecided(c.history.repeats(action), current)

    def _approve(
        self,
        action: Action,
        c: Circumstances,
        electorate: Electorate,
        context: CommandContext,
        refusal: tuple[str, Refusal] | None,
        details: dict[str, Any],
        events: tuple[EventRecord, ...],
    ) -> CastBallot:
        decision, history, shown = self._decision, c.history, c.history.shown_digest(action)
        repeats = history.repeats(action)
        if decision.on_repeat == USE_EARLIER:
            return self._use_earlier(action, repeats, electorate, shown, context)
        if (other := history.blocking(action)) is not None:
            raise CommandRefused(f"An equal action is {_label(other)}. Decide on it first: {other.id}.")
        if repeats and decision.on_repeat != EXECUTE_AGAIN:
            raise RepeatUndecided(repeats, shown)
        is_override = decision.override
        if is_override:
            self._check_override(action, electorate)
        elif not has_seat(action, self._actor.name, electorate):
            raise NotAllowed("This action needs the approval of other people.", ("assign it to other people",))
        capacities = electorate.people.capacities_of(self._actor.name)
        on_repeat = EXECUTE_AGAIN if repeats else None
        vote = ActionVote(self._actor.name, capacities, action.version, APPROVE, on_repeat, shown, context.at)
        if any(v[:-1] == _same(vote)[:-1] for v in map(_same, action.votes)) and not is_override:
            raise CommandRefused("You have already approved this. Another person has to approve it too.")
        voted = move(cast(action, vote), ActionTransition.VOTE)
        filled = self._filled(voted, c, electorate)
        if not is_override and not is_agreed(voted, history, electorate):
            return CastBallot(voted, decision, None, shown, filled, _seats(voted), refusal, details, events)
        agreed = move(
            voted,
            ActionTransition.AGREE,
            reason="",
            approved_by=BY_OVERRIDE if is_override else BY_PEOPLE,
            approved_until=context.at + timedelta(hours=APPROVAL_HOURS),
            occurrence=history.next_occurrence(voted),
        )
        event = event_records.state_event(agreed, people=[v.actor for v in agreed.votes], override=is_override)
        return CastBallot(
            agreed, decision, ApprovalStatus.APPROVED, shown, filled, _seats(voted), refusal, details, (*events, event)
        )

    def _use_earlier(
        self,
        action: Action,
        repeats: tuple[Action, ...],
        electorate: Electorate,
        shown: str,
        context: CommandContext,
    ) -> CastBallot:
        done = [a for a in repeats if a.state is ActionState.DONE]
        if not done:
            raise CommandRefused("No earlier action is done, so there is no result to use.", (EXECUTE_AGAIN,))
        if not has_seat(action, self._actor.name, electorate):
            raise NotAllowed("This action needs the approval of other people.", ("assign it to other people",))
        after = move(action, ActionTransition.REUSE, reused_of=done[-1].id, result=done[-1].result)
        event = event_records.state_event(after, people=[self._actor.name])
        return CastBallot(
            after, self._decision, ApprovalStatus.APPROVED, shown, events=(event,), details={"ended_at": context.at}
        )

    def _check_override(self, action: Action, electorate: Electorate) -> None:
        if not self._actor.is_admin:
            raise NotAllowed("Only an admin can decide instead of the people who are asked.")
        if not self._decision.feedback.strip():
            raise CommandRefused("Enter a reason for deciding instead of the people who are asked.")
        is_barred = any(requirement.not_by_starter for requirement in required_seats(action))
        if is_barred and self._actor.name == electorate.starter:
            raise NotAllowed("You started this run. Another person has to decide.")

    def _filled(self, action: Action, c: Circumstances, electorate: Electorate) -> int:
        votes = valid_votes(action, c.history, APPROVE)
        tallies = tally(required_seats(action), votes, electorate.people, electorate.starter)
        return max(len(each.filled) for each in tallies)

    def _modified(self, action: Action) -> tuple[Action, dict[str, Any], tuple[EventRecord, ...]]:
        new = self._decision.new_content
        assert new is not None
        after = move(
            action,
            ActionTransition.MODIFY,
            content_digest=new.content_digest,
            identity=new.identity,
            effect=new.effect,
            risk=max(action.risk, new.risk, key=lambda risk: risk.rank),
            modified=True,
            version=action.version + 1,
            votes=(),
        )
        details = {
            "content": new.content,
            "facts": new.facts,
            "summary": new.summary,
            "currency": new.currency,
        }
        changed = {"version": after.version, "changes": list(new.changes), "modified_by": self._actor.name}
        event = EventRecord(
            "action_modified",
            {"action_id": action.id, "operation_type": action.operation, "content_digest": new.content_digest}
            | changed,
            execution_id=action.execution,
        )
        return after, details, (event,)

    # Unknown outcomes
    def _settle(
        self,
        connection: Connection,
        loaded: LoadedRun | None,
        action: Action,
        electorate: Electorate,
        context: CommandContext,
    ) -> CastBallot:
        choice, history = self._decision.choice, self._reader.history(connection, loaded, action)
        shown = history.shown_digest(action)
        if not action.is_unsettled or action.resend_permitted:
            raise CommandRefused(f"The outcome of the action is not an open question. It is {_label(action)}.")
        if choice == GIVE_UP:
            after = move(action, ActionTransition.ABANDON, settled=True, reported_by="person")
            return self._settled(after, shown, context)
        if not has_seat(action, self._actor.name, electorate):
            raise NotAllowed("The outcome of this action is decided by the people who can approve it.")
        if choice == SEND_AGAIN:
            self._check_resend(connection, loaded, action)
        capacities = electorate.people.capacities_of(self._actor.name)
        vote = ActionVote(self._actor.name, capacities, action.version, choice, None, shown, context.at)
        voted = move(cast(action, vote), ActionTransition.VOTE)
        votes = valid_votes(voted, history, choice)
        tallies = tally(required_seats(voted), votes, electorate.people, electorate.starter)
        filled = max(len(each.filled) for each in tallies)
        if not is_agreed(voted, history, electorate, choice):
            return CastBallot(voted, self._decision, None, shown, filled, _seats(voted))
        if choice == SEND_AGAIN:
            until = context.at + timedelta(hours=APPROVAL_HOURS)
            after = move(voted, ActionTransition.ALLOW_RESEND, resend_permitted=True, approved_until=until)
            return CastBallot(after, self._decision, SETTLEMENTS[choice], shown, filled, _seats(voted))
        is_done = choice == HAPPENED
        transition = ActionTransition.CONFIRM if is_done else ActionTransition.DENY
        by = [v.actor for v in voted.votes if v.choice == choice]
        after = move(
            voted,
            transition,
            reported_by="person",
            result={"confirmed_by" if is_done else "denied_by": by, "comment": self._decision.feedback},
            limit_use=voted.limit_use if is_done else None,
        )
        return self._settled(after, shown, context, filled)

    def _settled(self, after: Action, shown: str, context: CommandContext, filled: int = 1) -> CastBallot:
        event = event_records.state_event(after, settled_by=context.by, decision=self._decision.choice)
        return CastBallot(
            after,
            self._decision,
            SETTLEMENTS[self._decision.choice],
            shown,
            filled,
            _seats(after),
            details={"ended_at": context.at},
            events=(event,),
        )

    def _check_resend(self, connection: Connection, loaded: LoadedRun | None, action: Action) -> None:
        e = loaded.run.executions.get(action.execution) if loaded is not None else None
        is_waiting = e is not None and e.archived_by is None and e.waiting_on is WaitingOn.ACTION_APPROVAL
        is_current = ledger.generation(connection, action.place) == action.generation
        is_open = loaded is not None and loaded.run.status not in CLOSED
        if not (is_waiting and is_current and is_open):
            raise CommandRefused("Its execution no longer waits for the action, so it can't be sent again.")
        if not ledger.content_of(connection, action.id):
            raise CommandRefused("The request of this action is no longer stored, so it can't be sent again.")


def _seats(action: Action) -> int:
    return max(requirement.seat_count for requirement in required_seats(action))


def _same(vote: ActionVote) -> tuple[object, ...]:
    return vote.actor, vote.version, vote.choice, vote.on_repeat, vote.shown_digest, vote.capacities, vote.at


def _label(action: Action) -> str:
    return action.state.value.replace("_", " ")
