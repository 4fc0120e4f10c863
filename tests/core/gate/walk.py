"""A random walk: commands of people, servers and the clock in any order, then a good ending."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from cairn.core.action import Action, Place
from cairn.core.action_votes import DID_NOT_HAPPEN, EXECUTE_AGAIN, GIVE_UP, HAPPENED, SEND_AGAIN, USE_EARLIER
from cairn.core.errors import CommandRefused
from cairn.core.states import ActionState
from tests.core.gate.catalog import RULES, Content
from tests.core.gate.proposers import Proposers, key_of, some_content
from tests.core.gate.reader import Page
from tests.core.gate.recovery import Gate
from tests.core.gate.state import CLOSED, Driver, Stored, Work, WorkRun
from tests.core.gate.witness import Memory, Witness

S = ActionState
DECIDABLE = (S.WAITING, S.APPROVED, S.UNKNOWN)
GROUPS = ("approver", "finance", "legal")


@dataclass
class Sending:
    """An action on its way, and the next step of its server: start, write, send or finish."""

    driver: Driver
    action: str
    step: int = 0
    started: Action | None = None
    content: Content | None = None
    outcome: tuple[str, bool] = ("unknown", False)


class Walk:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.gate = Gate()
        self.witness = Witness(self.gate)
        self.proposers = Proposers(self.gate, self.witness, self.draw)
        self.pages: list[Page] = []
        self.sending: list[Sending] = []
        self.received: dict[str, Content] = {}  # by key
        self.backup: tuple[Stored, int, Memory] | None = None
        self.incarnations = 1
        self.counted: Counter[str] = Counter()
        self.commands: dict[str, tuple[float, Callable[[], None]]] = {
            "start run": (3, self.start_run),
            "start test": (0.3, lambda: self.start_run(is_test=True)),
            "work": (26, self.work),
            "carry": (12, self.carry),
            "send": (30, self.send),
            "look": (12, self.look),
            "press": (22, self.press),
            "crash": (2, self.crash),
            "boot": (2, lambda: self.boot(self.draw.choice(list(self.gate.servers)))),
            "retry": (2, self.retry),
            "retry automatically": (0.5, self.retry_automatically),
            "roll back": (0.8, self.roll_back),
            "rerun": (1, self.rerun),
            "pause": (0.6, lambda: self.switch("in progress", "paused")),
            "resume": (1.5, lambda: self.switch("paused", "in progress")),
            "cancel": (0.3, self.cancel),
            "tick": (2, self.tick),
            "stop": (0.5, lambda: self.gate.set_status(stop=self.draw.choice(["approvals", "actions"]))),
            "lift": (1.5, self.lift),
            "rules": (1.5, self.change_rules),
            "groups": (1, self.change_groups),
            "delegate": (1, self.delegate),
            "file": (1, self.change_file),
            "back up": (1, self.back_up),
            "restore": (0.5, self.restore),
            "review": (1.5, self.review),
        }

    def command(self) -> None:
        names = list(self.commands)
        name = self.draw.choices(names, [self.commands[each][0] for each in names])[0]
        self.counted[name] += 1
        self.witness.tick()
        self.commands[name][1]()
        self.witness.check()

    # ---- runs and their work -------------------------------------------------------------------------------
    def start_run(self, earlier: WorkRun | None = None, *, is_test: bool = False) -> None:
        gate, draw = self.gate, self.draw
        if earlier is None and len(gate.db.runs) >= 3:
            return
        run_id = gate.new_id()
        starter = earlier.starter if earlier is not None else draw.choice(["eve", "dora", "ann"])
        family = earlier.family if earlier is not None else run_id
        gate.db.runs[run_id] = WorkRun(run_id, family, starter, is_test=is_test, uses_earlier=draw.random() < 0.3)
        known = [w.program for w in gate.db.work.values() if w.place.family == family and w.is_script]
        program = tuple(some_content(draw, is_planned=True) for _ in range(draw.randint(1, 4)))
        for checkpoint, item in (("1", ""), ("2", "a"), ("2", "b"), ("3", "")):
            place = Place(family, checkpoint, item)
            if earlier is not None:
                gate.raise_generation(place)
            is_script = checkpoint == "1"
            gate.save_work(Work(gate.new_id(), run_id, place, (known or [program])[0] if is_script else ()))

    def work(self) -> None:
        live = [w for w in self.gate.db.work.values() if not w.is_archived]
        if live:
            self.proposers.step(self.draw.choice(live))

    def retry(self) -> None:
        failed = [
            w
            for w in self.gate.db.work.values()
            if not w.is_archived
            and w.status in ("failed", "cancelled")
            and self.gate.db.runs[w.run].status not in ("completed", "cancelled")
        ]
        if failed:
            self.gate.repeat(self.draw.choice(failed), by_person=True)

    def retry_automatically(self) -> None:
        busy = [w for w in self.gate.db.work.values() if w.is_live and w.driver is not None]
        if busy:
            self.gate.repeat(self.draw.choice(busy), is_revision=self.draw.random() < 0.5)

    def roll_back(self) -> None:
        if self.gate.db.runs:
            run = self.draw.choice(list(self.gate.db.runs.values()))
            self.gate.roll_back(run, self.draw.choice("123"), self.draw.choice(["paused", "in progress"]))

    def rerun(self) -> None:
        ended = [r for r in self.gate.db.runs.values() if r.status in CLOSED and not r.is_test]
        if ended and len(self.gate.db.runs) < 5:
            self.start_run(self.draw.choice(ended))

    def switch(self, before: str, after: str) -> None:
        runs = [r for r in self.gate.db.runs.values() if r.status == before]
        if runs:
            self.gate.set_run(self.draw.choice(runs).id, after)

    def cancel(self) -> None:
        if self.gate.db.runs:
            self.gate.close(self.draw.choice(list(self.gate.db.runs.values())), "cancelled")

    # ---- sending -------------------------------------------------------------------------------------------
    def carry(self) -> None:
        running = [Driver(name, number) for name, number in self.gate.servers.items() if number]
        ready = [
            a.id
            for a in self.gate.db.actions.values()
            if not a.is_handed_over and (a.state is S.APPROVED or a.resend_permitted)
        ]
        if ready and running:
            self.sending.append(Sending(self.draw.choice(running), self.draw.choice(ready)))

    def send(self) -> None:
        if not self.sending:
            return
        task = self.draw.choice(self.sending)
        if not self.gate.is_alive(str(task.driver)) or not self._advance(task):
            self.sending.remove(task)

    def _advance(self, task: Sending) -> bool:
        """One step of a server. A crash can come after each."""
        gate, step = self.gate, task.step
        task.step += 1
        if step == 0:
            task.started = gate.start(task.action, task.driver)
            if task.started is not None:
                task.content = gate.db.contents[task.action]
                self.witness.started(task.started, task.content, task.driver.server)
            return task.started is not None
        assert task.started is not None
        assert task.content is not None
        match step:
            case 1:
                gate.write_line(task.started)
            case 2:
                task.outcome = self._receive(task.started, task.content)
            case _:
                gate.finish(task.action, task.outcome[0], answered=task.outcome[1])
                self.witness.finished(task.started, key_of(task.started), task.outcome)
                return False
        return True

    def _receive(self, a: Action, content: Content) -> tuple[str, bool]:
        """What the receiver does and answers: the outcome, and whether there was an answer at all."""
        chance, key = self.draw.random(), key_of(a)
        if chance < 0.08:
            return "failed", False  # not connected
        if chance < 0.14:
            return "failed", True  # refused
        if chance < 0.24:
            return "unknown", True  # unavailable
        if content.type.is_idempotent and key in self.received:
            return ("done", True) if self.received[key] == content else ("failed", True)
        self.received[key] = content
        self.witness.received(a, content, key)
        return ("unknown", False) if chance < 0.36 else ("done", True)  # perhaps the answer is lost

    # ---- people --------------------------------------------------------------------------------------------
    def look(self) -> None:
        """Open a page, which may be out of date when its reader decides."""
        actions = self.gate.db.actions.values()
        unknown = [a.id for a in actions if a.is_unsettled]
        shown = unknown if unknown and self.draw.random() < 0.5 else [a.id for a in actions if a.state in DECIDABLE]
        if shown:
            self.pages = [*self.pages, self.view(self.draw.choice(shown))][-12:]

    def view(self, action_id: str) -> Page:
        page = self.gate.view(action_id)
        page.opened = self.witness.tick()
        return page

    def press(self) -> None:
        if self.pages:
            recent = self.pages[-3:] if self.draw.random() < 0.7 else self.pages
            page, person = self.draw.choice(recent), self.draw.choice(list(self.gate.groups))
            with suppress(CommandRefused):
                self._decide(person, page)

    def _decide(self, person: str, page: Page) -> None:
        draw = self.draw
        if page.action.state is S.UNKNOWN:
            self.settle(
                person, page, draw.choice([HAPPENED, DID_NOT_HAPPEN, DID_NOT_HAPPEN, *[SEND_AGAIN] * 4, GIVE_UP])
            )
            return
        choice = draw.choice(["approve"] * 6 + ["modify", "revise", "reject", "revoke"])
        if choice not in ("approve", "modify"):
            a = self.gate.refuse(person, page, choice)
            self.witness.refused(a, choice)
            self.gate.after_refusal(a, choice)
            return
        new = page.content._replace(amount=draw.choice([10, 45, 150, 900]), account=draw.choice("AB"))
        self.approve(
            person,
            page,
            draw.choice([None, USE_EARLIER, EXECUTE_AGAIN, EXECUTE_AGAIN]),
            new if choice == "modify" else None,
        )

    def approve(self, person: str, page: Page, on_repeat: str | None, new: Content | None = None) -> None:
        before = self.gate.db.actions.get(page.action.id)
        a = self.gate.approve(person, page, on_repeat, new)
        if new is not None and before is not None:
            self.witness.refused(before, "modify")
        if a.state in (S.WAITING, S.APPROVED) and a.votes and a.votes[-1].actor == person:
            seen = page.content if new is None else new.resolved(self.gate.file)
            self.witness.pressed(person, page, "approve", seen, on_repeat)

    def settle(self, person: str, page: Page, choice: str) -> None:
        """People look outside before they say what happened."""
        if choice == DID_NOT_HAPPEN and any(e.action.id == page.action.id for e in self.witness.effects):
            choice = HAPPENED
        a = self.gate.settle(person, page, choice)
        self.witness.pressed(person, page, choice, page.content)
        if a.state in (S.DONE, S.FAILED):
            self.witness.settled(a, choice)

    # ---- servers, rules and time ---------------------------------------------------------------------------
    def crash(self) -> None:
        server = self.draw.choice(list(self.gate.servers))
        self.gate.servers[server] = 0
        if self.draw.random() < 0.7:
            self.boot(server)

    def boot(self, server: str) -> None:
        if not self.gate.servers[server]:
            self.incarnations += 1
            self.gate.servers[server] = self.incarnations
            self.gate.recover()

    def back_up(self) -> None:
        self.backup = self.gate.db.copy(), self.witness.clock, self.witness.memory.copy()

    def restore(self) -> None:
        """Both servers stop, and an older database is put in place. The journal stays as it is."""
        if self.backup is None:
            return
        gate, (stored, at, memory) = self.gate, self.backup
        gate.servers = dict.fromkeys(gate.servers, 0)
        gate.db, self.sending = stored.copy(), []
        self.witness.restored(at, memory)
        for server in gate.servers:
            self.boot(server)

    def review(self) -> None:
        if self.gate.db.status.held:
            self.gate.set_status(held=False)
            self.witness.is_unreviewed = False
            self.resume_held()

    def lift(self) -> None:
        self.gate.set_status(stop="")
        self.resume_held()

    def resume_held(self) -> None:
        for action_id in list(self.gate.db.actions):
            self.gate.judge_held(action_id)

    def change_rules(self) -> None:
        self.gate.db.rules ^= {self.draw.choice(list(RULES))}

    def change_groups(self) -> None:
        person = self.draw.choice(list(self.gate.groups))
        self.gate.groups[person] = self.gate.groups[person] ^ {self.draw.choice(GROUPS)}

    def delegate(self) -> None:
        delegate, principal = self.draw.sample(list(self.gate.groups), 2)
        if self.gate.delegates.pop(delegate, None) is None:
            self.gate.delegates[delegate] = principal

    def change_file(self) -> None:
        self.gate.file += 1

    def tick(self) -> None:
        self.gate.hours += self.draw.choice([1, 3, 9, 25])
