"""Scripts and agents of the model: they propose actions, carry out what is handed over, and end."""

from __future__ import annotations

import random

from cairn.core.action import Action
from cairn.core.states import ActionState
from tests.core.gate.catalog import Content, digest_of
from tests.core.gate.recovery import Gate
from tests.core.gate.state import Driver, Work
from tests.core.gate.witness import Witness

S = ActionState
WAITING = frozenset({S.PROPOSED, S.WAITING, S.APPROVED, S.STARTED})
MAX_OPEN = 3  # actions that an agent proposes before it waits


def key_of(a: Action) -> str:
    return digest_of((a.place.family, a.operation, a.identity, a.occurrence or 1))


def can_be_handed_over(a: Action) -> bool:
    return a.is_handed_over and (a.state is S.APPROVED or (a.is_unsettled and a.resend_permitted))


class Proposers:
    def __init__(self, gate: Gate, witness: Witness, draw: random.Random) -> None:
        self.gate = gate
        self.witness = witness
        self.draw = draw
        self.eagerness = 0.8  # of agents to propose more

    # ---- one step ----------------------------------------------------------------------------------------
    def step(self, work: Work) -> None:
        gate = self.gate
        running = [name for name, number in gate.servers.items() if number]
        if not work.is_live or gate.db.runs[work.run].status != "in progress" or not running:
            return
        if work.driver is not None and not gate.is_alive(str(work.driver)):
            gate.recover()  # another server takes over
            work = gate.db.work[work.id]
        if work.driver is None:
            if not self._prepare(work):
                return
            server = self.draw.choice(running)
            work = gate.save_work(
                gate.db.work[work.id].replace(driver=Driver(server, gate.servers[server]), handed_over="")
            )
        if work.is_script:
            self._script(work)
        else:
            self._agent(work)

    def _prepare(self, work: Work) -> bool:
        """Before work continues: nothing of it may be under way or an open question, or something is handed over."""
        for a in self._own(work):
            if a.state is S.HANDED_OVER:
                self.gate.finish(a.id, "unknown", answered=False)
        own = self._own(work)
        if any(map(can_be_handed_over, own)):
            return True
        return not any(a.state in WAITING or a.is_unsettled for a in own)

    def _own(self, work: Work) -> list[Action]:
        return [a for a in self.gate.db.actions.values() if a.execution == work.id]

    def _stop(self, work: Work) -> None:
        """The process ends: a script starts from its beginning when it is called again."""
        work = self.gate.db.work[work.id]
        self.gate.save_work(work.replace(driver=None, position=0 if work.is_script else work.position))

    # ---- scripts -----------------------------------------------------------------------------------------
    def _script(self, work: Work) -> None:
        gate, position = self.gate, work.position
        if work.handed_over:  # the next call: what was handed over is done, reported or not
            gate.finish(work.handed_over, "done")
            work = gate.save_work(work.replace(handed_over=""))
        if position >= len(work.program):
            self._complete(work)
            return
        a = gate.db.actions.get(work.calls[position]) if position < len(work.calls) else None
        if a is None or not self._is_answered(a):
            a = gate.propose(work, work.program[position])
            work = gate.save_work(work.replace(calls=(*work.calls[:position], a.id, *work.calls[position + 1 :])))
        if can_be_handed_over(a):
            self._hand_over(work, a)
            return
        if not self._is_answered(a) or a.state is S.APPROVED or a.is_unsettled:
            self._stop(work)
        elif a.state is S.REFUSED or a.state is S.UNKNOWN or (a.state is S.FAILED and self.draw.random() < 0.5):
            gate.fail(work)
        else:
            gate.save_work(work.replace(position=position + 1))

    def _is_answered(self, a: Action) -> bool:
        """Whether a recorded call has a result, or can get one. Otherwise it proposes again."""
        is_earlier = a.generation < self.gate.generation(a.place)
        if a.state in (S.WITHDRAWN, S.EXPIRED):
            return False
        return not (is_earlier and (a.state in (S.FAILED, S.REFUSED) or (a.state is S.UNKNOWN and a.settled)))

    def _hand_over(self, work: Work, a: Action) -> None:
        gate, driver = self.gate, work.driver
        assert driver is not None
        started = gate.start(a.id, driver)
        if started is None:
            self._stop(work)
            return
        content = gate.db.contents[started.id]
        self.witness.started(started, content, driver.server)
        gate.write_line(started)
        if self.draw.random() < 0.9:
            self.witness.received(started, content, key_of(started))
        work = gate.db.work[work.id]
        gate.save_work(
            work.replace(handed_over=started.id, position=work.position + 1 if work.is_script else work.position)
        )

    # ---- agents ------------------------------------------------------------------------------------------
    def _agent(self, work: Work) -> None:
        gate, draw = self.gate, self.draw
        if work.handed_over:
            if draw.random() < 0.7:
                gate.finish(work.handed_over, draw.choice(["done", "done", "unknown"]))
                gate.save_work(work.replace(handed_over=""))
            return
        for a in self._own(work):
            if can_be_handed_over(a):
                self._hand_over(work, a)
                return
        own = [a for a in self._own(work) if a.generation == gate.generation(a.place)]
        if any(a.state is S.UNKNOWN and a.settled for a in own) or any(a.state is S.REFUSED for a in own):
            gate.fail(work)
            return
        waiting = [a for a in self._own(work) if a.state in WAITING or a.is_unsettled]
        if len(waiting) < MAX_OPEN and draw.random() < self.eagerness:
            if gate.propose(work, self._idea(work)).state is S.REFUSED:
                gate.fail(work)
        elif waiting:
            self._stop(work)
        else:
            self._complete(work)

    def _idea(self, work: Work) -> Content:
        """Something new, or something that was proposed before, perhaps a little different."""
        family, draw = work.place.family, self.draw
        known = [self.gate.db.contents[a.id] for a in self.gate.family(family) if a.id in self.gate.db.contents]
        content = draw.choice(known) if known and draw.random() < 0.5 else some_content(draw)
        return content._replace(memo=draw.choice([0, 1, 2, 3])) if draw.random() < 0.4 else content

    def _complete(self, work: Work) -> None:
        gate = self.gate
        gate.end_work(gate.db.work[work.id], "completed")
        of_run = [w for w in gate.db.work.values() if w.run == work.run and not w.is_archived]
        if all(w.status == "completed" for w in of_run) and gate.db.runs[work.run].status == "in progress":
            gate.set_run(work.run, "completed")


def some_content(draw: random.Random, *, is_planned: bool = False) -> Content:
    operation = draw.choice([*["transfer"] * 4, "payout", "payout", "booking", "booking", "note", "search"])
    amounts = [10, 40, 45, 150] if is_planned else [10, 40, 40, 45, 150, None, "90", -5]
    return Content(
        operation,
        draw.choice("AAB"),
        draw.choice(amounts),
        draw.choice([0, 1, 2]),
        0 if draw.random() < 0.2 else None,
        draw.random() < 0.1,
    )
