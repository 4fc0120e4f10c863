"""What the gate reads from its ledger: the history of an action, the rules about it and the people who decide."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from cairn.core.action import Action, History, Place
from cairn.core.action_judgment import Circumstances
from cairn.core.action_rules import ApprovingRule
from cairn.core.action_votes import Electorate
from cairn.core.seats import Delegation, People
from tests.core.gate.catalog import Content, limit_use, rules_about
from tests.core.gate.state import RefusalLine, StartLine, Stored

BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
NOTHING_KNOWN = Content("", "", None)


class Page:
    """What a person sees of an action, perhaps for a long time."""

    def __init__(self, action: Action, content: Content, history: History) -> None:
        self.action, self.content = action, content
        self.opened = 0  # on the clock of the walk
        self.digest = history.shown_digest(action)
        self.repeats = history.repeats(action)


class GateReader:
    def __init__(self) -> None:
        self.db = Stored()
        self.journal: list[StartLine | RefusalLine] = []
        self.hours = 10  # since BEGIN
        self.file = 0  # its version
        self.servers = {"first": 1, "second": 1}  # the incarnation; 0: not running
        self.groups = {
            "ann": {"approver", "finance"},
            "bob": {"approver", "finance"},
            "cleo": {"approver", "legal"},
            "dora": {"approver"},
            "eve": {"approver", "finance"},
        }
        self.delegates: dict[str, str] = {}  # the delegate's principal
        self._ids = 0

    # ---- reading -----------------------------------------------------------------------------------------
    @property
    def now(self) -> datetime:
        return BEGIN + timedelta(hours=self.hours)

    def new_id(self) -> str:
        self._ids += 1  # also after a restore
        return f"{self._ids:05}"

    def electorate(self, action: Action) -> Electorate:
        names = {user: frozenset({user, *groups}) for user, groups in self.groups.items()}
        approvers = frozenset(user for user, groups in self.groups.items() if "approver" in groups)
        delegations = tuple(Delegation(f"{by}-{to}", by, to) for to, by in self.delegates.items())
        run = self.db.runs.get(action.run)
        return Electorate(People(names, approvers, delegations), run.starter if run is not None else "")

    def family(self, family: str, operation: str | None = None) -> list[Action]:
        return [a for a in self.db.actions.values() if a.place.family == family and operation in (None, a.operation)]

    def history(self, action: Action) -> History:
        others = tuple(a for a in self.family(action.place.family, action.operation) if a.id != action.id)
        refusals = (r for r in self.db.refusals.values() if r.place.family == action.place.family)
        return History(
            others, tuple(r for r in refusals if r.operation == action.operation), frozenset(self.given(action))
        )

    def given(self, action: Action) -> Iterable[str]:
        """The outcomes that a script was given again before it proposed the action."""
        work = self.db.work.get(action.execution)
        if work is None:
            return ()
        return work.calls[: work.calls.index(action.id) if action.id in work.calls else work.position]

    def generation(self, place: Place) -> int:
        return self.db.generations.get(place, 0)

    def is_alive(self, driver: str) -> bool:
        return driver in {f"{server} {number}" for server, number in self.servers.items() if number}

    def circumstances(self, action: Action, content: Content | None = None) -> Circumstances:
        content = content or self.db.contents.get(action.id, NOTHING_KNOWN)
        return Circumstances(
            self.history(action),
            rules_about(content, self.db.rules, self.now),
            self.db.status,
            lambda rule: self._limit_problem(action, rule),
        )

    def _limit_problem(self, action: Action, rule: ApprovingRule) -> str:
        if rule.limit is None:
            return ""
        use = limit_use(rule, action.place, self.now)
        if use is None or use.amount is None or rule.limit.count is None or rule.limit.sum_max is None:
            return "It can't be counted."
        count, total = self.db.totals(use.rule, use.window, action.id)
        return "Reached." if count + 1 > rule.limit.count or total + use.amount > rule.limit.sum_max else ""

    def view(self, action_id: str) -> Page:
        action = self.db.actions[action_id]
        return Page(action, self.db.contents.get(action_id, NOTHING_KNOWN), self.history(action))
