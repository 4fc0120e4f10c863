"""The transactions of the gate around sending: start, write the line of the journal, and save the outcome."""

from __future__ import annotations

from typing import Any

from cairn.core.action import Action
from cairn.core.action_judgment import Circumstances, GateStatus
from cairn.core.action_start import StartState, StartVerdict, check_start
from cairn.core.action_transitions import ActionTransition, move
from cairn.core.action_votes import APPROVE, with_requirements
from cairn.core.states import ActionState
from tests.core.gate.catalog import limit_use
from tests.core.gate.ledger import GateLedger
from tests.core.gate.state import Driver, StartLine

T, S = ActionTransition, ActionState


class SendingGate(GateLedger):
    def start(self, action_id: str, driver: Driver) -> Action | None:
        """One transaction. The line of the journal follows, and then the first byte."""
        a = self.db.actions.get(action_id)
        if a is None or not (a.state is S.APPROVED or (a.is_unsettled and a.resend_permitted)):
            return None
        c, run = self.circumstances(a), self.db.runs.get(a.run)
        state = StartState(self.now, self.is_current(a), run is not None and run.status == "in progress")
        check = check_start(a, state, c, self.electorate(a))
        after = self.save(self._after_check(a, check.verdict, c, driver))
        return after if after.state in (S.STARTED, S.HANDED_OVER) else None

    def _after_check(self, a: Action, verdict: StartVerdict, c: Circumstances, driver: Driver) -> Action:
        is_resend, kept = a.state is S.UNKNOWN, tuple(v for v in a.votes if v.choice == APPROVE)
        match verdict:
            case StartVerdict.START:
                self.db.last_start += 1
                transition = T.HAND_OVER if a.is_handed_over else T.RESEND if is_resend else T.START
                a = move(
                    a,
                    transition,
                    resend_permitted=False,
                    votes=kept,
                    sends=a.sends + 1,
                    start_seq=self.db.last_start,
                    owner=str(driver),
                )
                rule = next((r for r in c.rules.approving if r.rule_id == a.rule), None)
                return a if rule is None else a.replace(limit_use=limit_use(rule, a.place, self.now))
            case StartVerdict.HOLD:
                return a.replace(reason="held")
            case _ if is_resend:
                return move(a, T.REVOKE_RESEND, resend_permitted=False, votes=kept)
            case StartVerdict.ASK | StartVerdict.ASK_AFRESH:
                votes = () if verdict is StartVerdict.ASK_AFRESH else a.votes
                cleared: dict[str, Any] = {"approved_by": "", "approved_until": None, "occurrence": None}
                a = move(a, T.ASK_AGAIN, reason="asked again", limit_use=None, votes=votes, **cleared)
                return with_requirements(a, c.rules.asking)
            case StartVerdict.BLOCK:
                return move(a, T.BLOCK, limit_use=None)
            case StartVerdict.WITHDRAW:
                return move(a, T.WITHDRAW, limit_use=None)

    def write_line(self, a: Action) -> None:
        assert a.start_seq is not None
        self.journal.append(StartLine(a.start_seq, a))

    def finish(self, action_id: str, outcome: str, *, answered: bool = True) -> None:
        """The outcome of a start: done, failed or unknown."""
        a = self.db.actions.get(action_id)
        if a is None or a.state not in (S.STARTED, S.HANDED_OVER):
            return
        transition = {"done": T.SUCCEED, "failed": T.FAIL, "unknown": T.MARK_UNKNOWN}[outcome]
        if transition is T.FAIL and a.was_unknown:
            transition = T.MARK_UNKNOWN
        self.save(
            move(
                a,
                transition,
                answered=answered,
                was_unknown=a.was_unknown or transition is T.MARK_UNKNOWN,
                limit_use=None if transition is T.FAIL else a.limit_use,
                votes=tuple(v for v in a.votes if v.choice == APPROVE),
            )
        )

    def set_status(self, **changes: Any) -> None:
        status = self.db.status
        self.db.status = GateStatus(changes.get("stop", status.stop), changes.get("held", status.held))
