"""An oracle of its own: who decided what on which page, the rules in words, and what the receiver got.

It takes only three things from the gate: the numbers of generations, the outcomes that a script was given again, and
which outcomes are open questions.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cairn.core.action import Action
from cairn.core.action_votes import EXECUTE_AGAIN
from tests.core.gate.catalog import CLOSES, FINANCE, LEGAL, OPENS, Content
from tests.core.gate.reader import Page
from tests.core.gate.recovery import Gate
from tests.core.gate.state import StartLine

Seats = tuple[str, ...]


@dataclass(frozen=True)
class Press:
    """A person's decision on a page."""

    number: int
    opened: int  # when the page was opened
    hours: int
    person: str
    persons: frozenset[str]  # that the decision can count for
    action: str
    choice: str
    content: Content
    on_repeat: str | None = None


@dataclass(frozen=True)
class Begun:
    number: int
    action: Action
    content: Content
    by_people: bool
    day: int


@dataclass(frozen=True)
class Effect:
    """What the receiver did."""

    number: int
    action: Action
    key: str


@dataclass(frozen=True)
class Memory:
    """What a restored database forgets."""

    asked: dict[str, list[tuple[Seats, bool]]] = field(default_factory=dict[str, list[tuple[Seats, bool]]])
    rejected: dict[str, str] = field(default_factory=dict[str, str])  # by key, the action whose failure was answered

    def copy(self) -> Memory:
        return Memory(dict(self.asked), dict(self.rejected))


class Witness:
    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.clock = 0
        self.presses: list[Press] = []
        self.refusals: list[tuple[int, Action, str]] = []
        self.begun: list[Begun] = []
        self.effects: list[Effect] = []
        self.memory = Memory()
        self._seen: dict[str, tuple[str, int]] = {}
        self.lost: set[str] = set()  # actions whose start a restored database did not know
        self.is_unreviewed = False

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    # ---- what people did -----------------------------------------------------------------------------------
    def pressed(self, person: str, page: Page, choice: str, content: Content, on_repeat: str | None = None) -> None:
        persons = frozenset({person, self.gate.delegates.get(person, person)})
        at = self.tick()
        self.presses.append(
            Press(at, page.opened, self.gate.hours, person, persons, page.action.id, choice, content, on_repeat)
        )

    def refused(self, action: Action, kind: str) -> None:
        self.refusals.append((self.tick(), action, kind))

    # ---- the rules, read by hand -----------------------------------------------------------------------------
    def asked_seats(self, c: Content) -> list[tuple[Seats, bool]]:
        """The seats that the active rules ask for, and whether the starter is excluded."""
        active, found = self.gate.db.rules, list[tuple[Seats, bool]]()
        small = is_number(c.amount) and c.amount <= 100
        if "large" in active and c.operation in ("transfer", "payout", "booking") and not small:
            found.append(((FINANCE, LEGAL), False))
        if "account B" in active and c.operation == "transfer" and c.account == "B":
            found.append((("approver", "approver"), True))
        if "legal notes" in active and c.operation == "note" and c.memo in (None, 2):
            found.append(((LEGAL,), False))
        return found

    def may_pass(self, c: Content) -> bool:
        """Whether a rule or a low risk lets the content pass, apart from its history and limits."""
        if c.untrusted:
            return False
        if c.operation in ("note", "search"):
            return True
        if not is_number(c.amount) or c.amount < 0 or not OPENS <= self.gate.hours % 24 < CLOSES:
            return False
        rule, top = {"transfer": ("small", 50), "booking": ("bookings", 50), "payout": ("daily", 60)}[c.operation]
        return rule in self.gate.db.rules and c.amount <= top

    def seats_filled(self, starter: str, voters: Sequence[Press], seats: Seats, without_starter: bool) -> bool:
        """Try every team on every seat, for every person that each could stand for."""
        groups = self.gate.groups
        for team in itertools.permutations([v for v in voters if "approver" in groups[v.person]], len(seats)):
            for persons in itertools.product(*(sorted(v.persons) for v in team)):
                if len({v.person for v in team}) < len(team) or len(set(persons)) < len(team):
                    continue
                is_barred = without_starter and any(
                    starter in (v.person, p) for v, p in zip(team, persons, strict=True)
                )
                if not is_barred and all(seat in groups[p] for p, seat in zip(persons, seats, strict=True)):
                    return True
        return False

    def all_filled(self, action: Action, voters: Sequence[Press], needed: Sequence[tuple[Seats, bool]]) -> bool:
        run = self.gate.db.runs.get(action.run)
        starter = run.starter if run is not None else ""
        return bool(voters) and all(
            self.seats_filled(starter, voters, *each) for each in needed or [(("approver",), False)]
        )

    def settled(self, action: Action, choice: str) -> None:
        voters = [p for p in self.presses if (p.action, p.choice) == (action.id, choice)]
        needed = self.memory.asked.get(action.id, ())
        assert self.all_filled(action, voters, needed), "an unknown outcome is settled without its seats"

    # ---- judging a start -------------------------------------------------------------------------------------
    def started(self, a: Action, content: Content, server: str) -> None:
        number, gate = self.tick(), self.gate
        run, work = gate.db.runs[a.run], gate.db.work[a.execution]
        assert gate.servers[server], "a server starts an action while it is down"
        assert run.status == "in progress", "an action starts while its run is not in progress"
        assert not run.is_test, "a test run sends something"
        assert work.is_live, "an action starts for work that has ended"
        assert gate.generation(a.place) == a.generation, "an action starts for work that is being repeated"
        assert gate.db.status.stop != "actions", "an action starts in spite of a stop"
        assert not self.is_unreviewed, "an action starts before the restored database was reviewed"
        is_again = any(b.action.id == a.id for b in self.begun)
        by_people = self._people_agree(a, content, is_again=is_again)
        if not by_people:
            assert not is_again, "an action is sent again without people"
            assert not self.asked_seats(content), "a rule asks, and people have not agreed"
            assert self.may_pass(content), "no rule approves, and people have not agreed"
            assert not gate.db.status.stop, "a rule approves in spite of a stop"
            reason = self._why_people(a, work.is_script)
            assert not reason, f"a rule approves: {reason}"
        self.begun.append(Begun(number, a, content, by_people, gate.hours // 24))
        if not by_people:
            self._check_limits(a)

    def _people_agree(self, a: Action, content: Content, *, is_again: bool) -> bool:
        last = max((b.number for b in self.begun if b.action.id == a.id), default=0)
        choice = "send_again" if is_again else "approve"
        voters = [
            p for p in self.presses if (p.action, p.choice, p.content) == (a.id, choice, content) and p.number > last
        ]
        equal = [e for e in self.effects if _same_act(e.action, a) and e.action.id != a.id]
        if equal and not is_again and a.effect == "changes":
            shown = max(e.number for e in equal)
            voters = [p for p in voters if p.on_repeat == EXECUTE_AGAIN and p.opened > shown]
        if not voters or max(p.hours for p in voters) + 24 <= self.gate.hours:
            return False
        return self.all_filled(a, voters, self.asked_seats(content))

    def _why_people(self, a: Action, is_script: bool) -> str:
        """What happened before that no rule may ignore."""
        for _, other, kind in self.refusals:
            if (other.place.family, other.operation) != (a.place.family, a.operation):
                continue
            items = other.place.item, a.place.item
            if kind == "modify" and other.place == a.place:
                return "a person modified it"
            if kind != "modify" and (other.identity == a.identity or not all(items) or items[0] == items[1]):
                return "a person said no"
        if a.effect != "changes":
            return ""
        if any(o.is_unsettled and o.place == a.place for o in self.gate.family(a.place.family, a.operation) if o != a):
            return "an outcome is unknown here"
        given = set(self.gate.given(a)) if is_script else set[str]()
        for e in self.effects:
            other = e.action
            if (other.place.family, other.operation) != (a.place.family, a.operation) or other.id == a.id:
                continue
            if other.identity == a.identity:
                return "the same was done before"
            is_repeated = other.generation < a.generation or other.id in self.lost
            if other.place == a.place and is_repeated and other.id not in given:
                return "work is repeated here"
        return ""

    def _check_limits(self, a: Action) -> None:
        own = [b for b in self.begun if b.action.approved_by == a.approved_by and not b.by_people and self._counts(b)]
        amounts = [b.content.amount for b in own if b.action.place.family == a.place.family]
        today = [b.content.amount for b in own if b.day == self.gate.hours // 24]
        match a.rule:
            case "global/small":
                assert len(amounts) <= 2, "the limit of `small` is exceeded"
                assert sum(amounts) <= 80, "the limit of `small` is exceeded"
            case "global/daily":
                assert len(today) <= 9, "the limit of `daily` is exceeded"
                assert sum(today) <= 120, "the limit of `daily` is exceeded"
            case "global/bookings":
                assert sum(b.action.place == a.place for b in own) == 1, "a rule without a limit approves twice"
            case _:
                pass

    def _counts(self, begun: Begun) -> bool:
        action = self.gate.db.actions.get(begun.action.id)
        return action is None or action.state.value != "failed"

    # ---- the receiver ------------------------------------------------------------------------------------------
    def received(self, a: Action, content: Content, key: str) -> None:
        assert self.memory.rejected.get(key, a.id) == a.id, "a key whose failure was answered is used again"
        mine = [b for b in self.begun if b.action.id == a.id]
        assert mine, "something is sent that was never started"
        self.effects.append(Effect(self.tick(), a, key))
        assert sum(e.action.id == a.id for e in self.effects) <= len(mine), "more effects than starts"
        assert mine[-1].content == content, "what is sent is not what was decided on"
        assert {e.action.id for e in self.effects if e.key == key} == {a.id}, "one key has effects of two actions"

    def finished(self, a: Action, key: str, outcome: tuple[str, bool]) -> None:
        """Receivers answer a key that failed with the same failure again."""
        if outcome == ("failed", True) and self.gate.db.actions[a.id].state == "failed":
            self.memory.rejected[key] = a.id

    # ---- after every command -----------------------------------------------------------------------------------
    def check(self) -> None:
        gate = self.gate
        known = gate.db.actions
        self._note_questions()
        if not self.is_unreviewed and not gate.db.status.held:
            for b in self.begun:
                assert b.action.id in known, "a start is not in the ledger"
                assert known[b.action.id].state in ("started", "handed_over", "done", "failed", "unknown")
        for a in known.values():
            work, run = gate.db.work.get(a.execution), gate.db.runs.get(a.run)
            if a.is_open:
                assert work is not None, f"{a.state.value} for nobody"
                assert work.is_live, f"{a.state.value} for work that has ended"
                assert run is not None, f"{a.state.value} for no run"
                assert run.status in ("in progress", "paused"), f"{a.state.value} for a run that has ended"
            if a.state == "handed_over":
                assert work is not None, "handed over to nobody"
                assert work.handed_over == a.id or work.is_live, "handed over, and nobody can report"

    def _note_questions(self) -> None:
        """Add up the seats that rules asked for whenever people were asked anew."""
        for a in self.gate.db.actions.values():
            seen, now = self._seen.get(a.id), (a.state.value, a.version)
            if seen != now and now[0] == "waiting":
                seats = self.memory.asked.get(a.id, [])
                self.memory.asked[a.id] = [*seats, *self.asked_seats(self.gate.db.contents[a.id])]
            self._seen[a.id] = now

    def restored(self, at: int, memory: Memory) -> None:
        """An older database is in place. Nothing was sent for a start whose line was not written."""
        self.memory = memory.copy()
        self._seen = {a.id: (a.state.value, a.version) for a in self.gate.db.actions.values()}
        lines = [line for line in self.gate.journal if isinstance(line, StartLine)]
        written = {(line.action.id, line.number) for line in lines}
        late = [b for b in self.begun if b.number >= at]
        unwritten = [b for b in late if (b.action.id, b.action.start_seq) not in written]
        self.begun = [b for b in self.begun if b not in unwritten]
        self.lost |= {b.action.id for b in late} - {b.action.id for b in self.begun if b.number < at}
        self.is_unreviewed = any(line.number > self.gate.db.last_start for line in lines)


def _same_act(one: Action, other: Action) -> bool:
    return (one.place.family, one.operation, one.identity) == (other.place.family, other.operation, other.identity)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
