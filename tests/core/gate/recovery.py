"""What happens when work is repeated or ends, a server dies, or an older database is restored."""

from __future__ import annotations

from cairn.core.action import Action, Place
from cairn.core.action_transitions import ACTION, ActionTransition, move
from cairn.core.states import EXECUTED, ActionEffect, ActionState
from tests.core.gate.sending import SendingGate
from tests.core.gate.state import RefusalLine, Work, WorkRun

T, S = ActionTransition, ActionState


class Gate(SendingGate):
    # ---- work --------------------------------------------------------------------------------------------
    def save_work(self, work: Work) -> Work:
        self.db.work[work.id] = work
        return work

    def set_run(self, run: str, status: str) -> WorkRun:
        self.db.runs[run] = self.db.runs[run].replace(status=status)
        return self.db.runs[run]

    def raise_generation(self, place: Place, at_least: int = 0) -> None:
        self.db.generations[place] = max(self.generation(place) + 1, at_least)

    def end_open_actions(self, work: Work) -> None:
        """Withdraw what was not started. What a stopped process did with its parameters is unknown."""
        for a in list(self.db.actions.values()):
            if a.execution != work.id:
                continue
            if a.is_open:
                self.save(move(a, T.WITHDRAW, limit_use=None))
            elif a.state is S.HANDED_OVER:
                self.save(move(a, T.MARK_UNKNOWN, was_unknown=True))
            elif a.resend_permitted:
                self.save(move(a, T.REVOKE_RESEND, resend_permitted=False))

    def end_work(self, work: Work, status: str) -> None:
        if status == "completed" and work.handed_over:
            self.finish(work.handed_over, "done")  # nothing was reported, and the work has ended well
        self.end_open_actions(work)
        self.save_work(work.replace(status=status, driver=None, handed_over=""))

    def repeat(self, work: Work, *, by_person: bool = False, is_revision: bool = False) -> None:
        """The same work from its beginning, in the next generation. A revision forgets the recorded calls."""
        self.end_open_actions(work)
        self.raise_generation(work.place)
        if by_person:
            self.set_run(work.run, "in progress")
            self.db.cleared[work.place] = sum(
                r.place == work.place and r.kind != "modify" for r in self.db.refusals.values()
            )
        calls = () if is_revision else work.calls
        self.save_work(work.replace(status="ready", position=0, driver=None, handed_over="", calls=calls))

    def roll_back(self, run: WorkRun, checkpoint: str, status: str) -> None:
        """Archive the work of a checkpoint and the later ones, and start it anew."""
        for work in list(self.db.work.values()):
            if work.run == run.id and not work.is_archived and work.place.checkpoint >= checkpoint:
                self.end_work(work, "cancelled" if work.status != "completed" else "completed")
                self.save_work(self.db.work[work.id].replace(is_archived=True))
                self.raise_generation(work.place)
                self.save_work(Work(self.new_id(), run.id, work.place, work.program))
        self.set_run(run.id, status)

    def close(self, run: WorkRun, status: str) -> None:
        for work in list(self.db.work.values()):
            if work.run == run.id and work.is_live:
                self.end_work(work, "cancelled")
        self.set_run(run.id, status)

    def fail(self, work: Work) -> None:
        self.end_work(work, "failed")
        self.set_run(work.run, "paused")

    def after_refusal(self, a: Action, kind: str) -> None:
        """Send the work back, or reject it and the run. Without a kind that ends work, it continues."""
        work = self.db.work.get(a.execution)
        if work is None or not work.is_live:
            return
        if kind == "revise":
            self.repeat(work, is_revision=True)
        elif kind == "reject":
            self.end_work(work, "failed")
            self.close(self.db.runs[a.run], "failed")

    # ---- servers -----------------------------------------------------------------------------------------
    def recover(self) -> None:
        """At the start of a server: merge the journal first, then find what dead servers have left."""
        self.merge()
        for a in list(self.db.actions.values()):
            if a.state is S.STARTED and not self.is_alive(a.owner):
                self.finish(a.id, "unknown", answered=False)
        for work in list(self.db.work.values()):
            if work.driver is not None and not self.is_alive(str(work.driver)):
                self.save_work(work.replace(driver=None, position=0 if work.is_script else work.position))

    def merge(self) -> None:
        """What the journal knows and the restored database does not becomes unknown, and everything is held."""
        merged: list[Action] = []
        for line in self.journal:
            if isinstance(line, RefusalLine):
                if line.id not in self.db.refusals:
                    self.db.refusals[line.id] = line.refusal
                    self.set_status(held=True)
            elif line.number > self.db.last_start:
                merged.append(self._merge_start(line.action))
        if not merged:
            return
        self.db.last_start = max(line.number for line in self.journal if not isinstance(line, RefusalLine))
        for place in {a.place for a in merged}:
            self.raise_generation(place, 1 + max(a.generation for a in merged if a.place == place))
        self.set_status(held=True)

    def _merge_start(self, started: Action) -> Action:
        self._make_room(started)
        known = self.db.actions.get(started.id)
        if known is not None and T.MERGE not in ACTION[known.state]:
            return known
        if known is None or known.content_digest != started.content_digest:
            self.db.contents.pop(started.id, None)  # what was sent is no longer known
        a = known or started.replace(state=S.PROPOSED, call_digest="", requirements=())
        return self.save(
            move(
                a,
                T.MERGE,
                was_unknown=True,
                settled=False,
                resend_permitted=False,
                occurrence=started.occurrence,
                identity=started.identity,
                content_digest=started.content_digest,
                approved_by=started.approved_by,
                limit_use=started.limit_use,
                sends=max(a.sends, 1),
                votes=(),
            )
        )

    def _make_room(self, started: Action) -> None:
        """Another action with the same occurrence was no longer approved or executed when this one started."""
        for a in self.family(started.place.family, started.operation):
            same = (a.identity, a.occurrence) == (started.identity, started.occurrence)
            if a.id == started.id or not same or started.effect is not ActionEffect.CHANGES:
                continue
            if a.state is S.APPROVED:
                cleared = {"approved_by": "", "approved_until": None, "limit_use": None, "votes": ()}
                self.save(move(a, T.ASK_AGAIN, reason="restored", occurrence=None, **cleared))
            elif a.state in EXECUTED - {S.DONE}:
                self.save(move(a, T.MERGE, occurrence=None, was_unknown=True, settled=False, resend_permitted=False))
