"""The transactions of the gate: propose, decide and settle, in the order in which the services do them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from cairn.core.action import BY_DEFAULT, BY_PEOPLE, BY_RULE, Action, ActionVote, History, Refusal
from cairn.core.action_judgment import Circumstances, Judgment, judge
from cairn.core.action_transitions import ActionTransition, move
from cairn.core.action_votes import (
    APPROVE,
    DID_NOT_HAPPEN,
    EXECUTE_AGAIN,
    GIVE_UP,
    HAPPENED,
    SEND_AGAIN,
    USE_EARLIER,
    cast,
    has_seat,
    is_agreed,
    with_requirements,
)
from cairn.core.errors import CommandRefused
from cairn.core.states import EXECUTED, ActionEffect, ActionState
from tests.core.gate.catalog import Content, limit_use
from tests.core.gate.reader import GateReader, Page
from tests.core.gate.state import CLOSED, RefusalLine, Work

T, S = ActionTransition, ActionState
APPROVAL_HOURS = 24
MAX_WAITING, MAX_REFUSALS = 10, 3


class GateLedger(GateReader):
    def save(self, action: Action) -> Action:
        """Save an action, if no equal one has the same occurrence."""
        self.db.actions[action.id] = action
        same = [a.id for a in self.family(action.place.family, action.operation) if _is_same(a, action)]
        assert not _is_same(action, action) or same == [action.id], f"the same occurrence twice: {same}"
        return action

    # ---- proposals ---------------------------------------------------------------------------------------
    def propose(self, work: Work, call: Content) -> Action:
        content, run = call.resolved(self.file), self.db.runs[work.run]
        new = Action(
            self.new_id(),
            work.place,
            work.run,
            work.id,
            call.operation,
            call.type.effect,
            call.type.risk,
            content.identity,
            content.digest,
            call.digest,
            self.now,
            generation=self.generation(work.place),
            untrusted=call.untrusted,
            is_handed_over=call.type.is_handed_over,
            by_script=work.is_script,
        )
        if (earlier := self._outcome_to_repeat(new, work)) is not None:
            return earlier
        self.db.contents[new.id] = content
        if run.is_test:
            return self.save(move(new, T.MARK_TEST))
        return self.save(self._judged(new, content, uses_earlier=run.uses_earlier))

    def _outcome_to_repeat(self, new: Action, work: Work) -> Action | None:
        if not work.is_script:
            return None
        for a in self.db.actions.values():
            is_equal = a.execution == work.id and a.call_digest == new.call_digest and a.generation < new.generation
            has_outcome = a.state in (S.DONE, S.REUSED) or a.is_unsettled
            if is_equal and has_outcome and a.id not in work.calls[: work.position]:
                return a
        return None

    def _judged(self, new: Action, content: Content, *, uses_earlier: bool = False) -> Action:
        if self._refusals_here(new) >= MAX_REFUSALS:
            return move(new, T.BLOCK)
        c = self.circumstances(new, content)
        equal = c.history.equal(new)
        same = [a for a in equal if a.place == new.place and a.content_digest == new.content_digest]
        if uses_earlier and same and all(a.state is S.DONE for a in equal) and new.effect is ActionEffect.CHANGES:
            return move(new, T.REUSE, reused_of=same[-1].id)
        judgment = judge(new, c)
        if judgment.is_held:
            return new.replace(reason="held")
        if judgment.is_approved:
            return self._allowed(new, judgment, c)
        waiting = [a for a in self.db.actions.values() if a.execution == new.execution and a.state is S.WAITING]
        if len(waiting) >= MAX_WAITING:
            return new.replace(reason="queue")
        return with_requirements(move(new, T.ASK, reason=judgment.reason), c.rules.asking)

    def _refusals_here(self, new: Action) -> int:
        same = (new.place, new.operation)
        found = [r for r in self.db.refusals.values() if (r.place, r.operation) == same and r.kind != "modify"]
        return len(found) - self.db.cleared.get(new.place, 0)

    def _allowed(self, a: Action, judgment: Judgment, c: Circumstances) -> Action:
        rule = judgment.rule
        return move(
            a,
            T.ALLOW,
            approved_by=BY_DEFAULT if rule is None else f"{BY_RULE}{rule.rule_id}",
            approved_until=self.now + timedelta(hours=APPROVAL_HOURS),
            occurrence=c.history.next_occurrence(a),
            limit_use=None if rule is None else limit_use(rule, a.place, self.now),
        )

    def judge_held(self, action_id: str) -> None:
        """Judge a proposal again that was held, or that waits only because rules were stopped."""
        a = self.db.actions[action_id]
        if a.state is S.PROPOSED:
            self.save(self._judged(a, self.db.contents[a.id]))

    # ---- decisions ---------------------------------------------------------------------------------------
    def refuse(self, actor: str, page: Page, kind: str) -> Action:
        a = self._decided_by(actor, page)
        after = self.save(move(a, T.REJECT, reason=kind, limit_use=None))
        self._save_refusal(actor, a, kind)
        return after

    def _decided_by(self, actor: str, page: Page) -> Action:
        if "approver" not in self.groups[actor]:
            raise CommandRefused("not an approver")
        if page.action.id not in self.db.actions:
            raise CommandRefused("lost in a restore")
        return self.db.actions[page.action.id]

    def _save_refusal(self, actor: str, a: Action, kind: str) -> None:
        line = RefusalLine(self.new_id(), Refusal(a.operation, a.place, a.identity, kind, actor, self.now))
        self.db.refusals[line.id] = line.refusal
        self.journal.append(line)

    def approve(
        self, actor: str, page: Page, on_repeat: str | None = None, new_content: Content | None = None
    ) -> Action:
        """Vote for an action, perhaps with another content."""
        a = self._decided_by(actor, page)
        if a.state is not S.WAITING or self.db.status.held:
            raise CommandRefused("not waiting, or held")
        c = self.circumstances(a)
        if page.digest != c.history.shown_digest(a):
            raise CommandRefused("stale")
        if new_content is not None:
            self._save_refusal(actor, a, "modify")
            a = self._modified(a, new_content.resolved(self.file))
            c = self.circumstances(a)
            a = self.save(with_requirements(a, c.rules.asking))
            if c.history.repeats(a):
                return a
        return self._vote(actor, a, c, on_repeat)

    def _modified(self, a: Action, content: Content) -> Action:
        self.db.contents[a.id] = content
        return move(
            a,
            T.MODIFY,
            content_digest=content.digest,
            identity=content.identity,
            modified=True,
            version=a.version + 1,
            votes=(),
        )

    def _vote(self, actor: str, a: Action, c: Circumstances, on_repeat: str | None) -> Action:
        repeats, voters = c.history.repeats(a), self.electorate(a)
        if on_repeat == USE_EARLIER:
            done = [each for each in repeats if each.state is S.DONE]
            if not done or not has_seat(a, actor, voters):
                raise CommandRefused("no result to use, or no seat")
            return self.save(move(a, T.REUSE, reused_of=done[-1].id))
        if c.history.blocking(a) is not None or (repeats and on_repeat != EXECUTE_AGAIN):
            raise CommandRefused("an equal action is open, or the repeat is undecided")
        if not has_seat(a, actor, voters):
            raise CommandRefused("no seat")
        a = move(cast(a, self._ballot(actor, a, c.history, APPROVE, EXECUTE_AGAIN if repeats else None)), T.VOTE)
        if is_agreed(a, c.history, voters):
            until = self.now + timedelta(hours=APPROVAL_HOURS)
            occurrence = c.history.next_occurrence(a)
            a = move(a, T.AGREE, approved_by=BY_PEOPLE, approved_until=until, occurrence=occurrence)
        return self.save(a)

    def _ballot(self, actor: str, a: Action, history: History, choice: str, on_repeat: str | None = None) -> ActionVote:
        capacities = self.electorate(a).people.capacities_of(actor)
        return ActionVote(actor, capacities, a.version, choice, on_repeat, history.shown_digest(a), self.now)

    def settle(self, actor: str, page: Page, choice: str) -> Action:
        a = self._decided_by(actor, page)
        if not a.is_unsettled or a.resend_permitted:
            raise CommandRefused("not an open question")
        if choice == GIVE_UP:
            return self.save(move(a, T.ABANDON, settled=True))
        voters, history = self.electorate(a), self.history(a)
        if not has_seat(a, actor, voters) or (choice == SEND_AGAIN and not self._can_send_again(a)):
            raise CommandRefused("no seat, or no one waits for it")
        a = move(cast(a, self._ballot(actor, a, history, choice)), T.VOTE)
        if is_agreed(a, history, voters, choice):
            until = self.now + timedelta(hours=APPROVAL_HOURS)
            changes: dict[str, tuple[ActionTransition, dict[str, Any]]] = {
                HAPPENED: (T.CONFIRM, {}),
                DID_NOT_HAPPEN: (T.DENY, {"limit_use": None}),
                SEND_AGAIN: (T.ALLOW_RESEND, {"resend_permitted": True, "approved_until": until}),
            }
            transition, fields = changes[choice]
            a = move(a, transition, **fields)
        return self.save(a)

    def _can_send_again(self, a: Action) -> bool:
        is_known = a.id in self.db.contents and a.occurrence is not None
        return is_known and self.is_current(a) and self.db.work[a.execution].driver is None

    def is_current(self, a: Action) -> bool:
        work, run = self.db.work.get(a.execution), self.db.runs.get(a.run)
        is_open = work is not None and work.is_live and run is not None and run.status not in CLOSED
        return is_open and self.generation(a.place) == a.generation


def _is_same(one: Action, other: Action) -> bool:
    """Whether both have the same occurrence of a change. At most one action can have it."""
    both = (one, other)
    is_used = all(a.state in EXECUTED | {S.APPROVED} and a.effect is ActionEffect.CHANGES for a in both)
    is_equal = (one.identity, one.occurrence) == (other.identity, other.occurrence)
    return is_used and is_equal and one.occurrence is not None
