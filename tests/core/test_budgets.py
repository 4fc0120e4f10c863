"""A spent budget pauses the run until it is raised."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from cairn.core.budget import Budget
from cairn.core.commands import (
    BudgetReached,
    CancelRun,
    Command,
    CommandContext,
    PauseRun,
    RestartRun,
    ResumeRun,
    RollBack,
    SetBudget,
    WarnBudget,
)
from cairn.core.errors import AlreadyApplied, StaleCommand
from cairn.core.events import EventType
from cairn.core.states import RunStatus
from tests.core.harness import Harness, plan_of
from tests.mentions import mentions

SPENT = "The run has used $2.03 of its budget of $2.00."


class Watched(Harness):
    """The budget stands as it is told here."""

    left: str = SPENT

    def given(self, by: str) -> CommandContext:
        return replace(super().given(by), over_budget=self.left)


def reach(harness: Harness, key: str = "a") -> None:
    e = harness.e(key)
    harness.send(BudgetReached(e.id, e.dispatch, SPENT), "worker")


def test_a_spent_budget_pauses_the_run_and_says_why() -> None:
    harness = Watched(plan_of("a", "b"))
    reach(harness)
    assert (harness.run.status, harness.run.over_budget, harness.states) == (RunStatus.PAUSED, SPENT, {"a": "READY"})
    assert harness.told == ["budget_exhausted", "pause_requested", "execution_ready", "run_paused"]
    assert harness.detail(EventType.BUDGET_EXHAUSTED) == {"checkpoint": "a", "reason": SPENT}
    assert harness.detail(EventType.RUN_PAUSED)["reason"] == SPENT


def test_a_run_resumes_only_with_budget_left() -> None:
    harness = Watched(plan_of("a"))
    reach(harness)
    refused = harness.refuses(ResumeRun())
    assert refused.message.startswith(SPENT)
    assert refused.suggestions == (mentions(), "cancel")
    harness.send(SetBudget(Budget(max_cost_usd=Decimal("2.5"))))
    assert harness.run.status is RunStatus.PAUSED
    harness.left = ""
    harness.send(ResumeRun())
    assert (harness.run.status, harness.run.over_budget, harness.states) == (
        RunStatus.IN_PROGRESS,
        "",
        {"a": "WORKING"},
    )
    assert harness.e("a").dispatch == 2


def test_others_finish_first_and_nothing_starts_meanwhile() -> None:
    harness = Watched(plan_of(("a", "b"), "c"))
    reach(harness, "a")
    assert (harness.run.status, harness.run.pause_requested) == (RunStatus.IN_PROGRESS, True)
    assert harness.refuses(ResumeRun()).message.startswith(SPENT)
    reach(harness, "b")
    assert harness.told == ["execution_ready", "run_paused"]
    harness.left = ""
    harness.send(ResumeRun())
    assert harness.states == {"a": "WORKING", "b": "WORKING"}


def test_a_pause_that_somebody_asked_for_does_not_ask_for_a_budget() -> None:
    harness = Watched(plan_of("a", "b"))
    harness.send(PauseRun())
    harness.finish("a")
    harness.send(ResumeRun())
    assert harness.states["b"] == "WORKING"


@pytest.mark.parametrize("command", [CancelRun(), RestartRun(1), RollBack("r", -1)])
def test_what_takes_the_run_on_otherwise_is_not_held_up(command: Command) -> None:
    """The next call is not made all the same: the runner is told."""
    harness = Watched(plan_of("a"))
    reach(harness)
    harness.send(command)
    assert harness.run.over_budget == ""
    assert harness.run.status is not RunStatus.PAUSED


def test_a_budget_of_its_own_is_set_and_taken_back() -> None:
    harness = Harness(plan_of("a"))
    harness.send(WarnBudget("most is used"))
    assert (harness.told, harness.run.budget_warned) == (["budget_warning"], True)
    assert harness.detail(EventType.BUDGET_WARNING) == {"reason": "most is used"}
    harness.refuses(WarnBudget("more is used"), StaleCommand)
    budget = Budget(Decimal("0.50"), 1000)
    harness.send(SetBudget(budget))
    assert harness.detail(EventType.BUDGET_UPDATED) == {"from": {}, "to": {"max_cost_usd": "0.50", "max_tokens": 1000}}
    assert (harness.run.budget, harness.run.budget_warned) == (budget, False)
    harness.refuses(SetBudget(budget), AlreadyApplied)
    harness.send(SetBudget(Budget()))
    harness.finish("a")
    assert harness.refuses(SetBudget(budget)).message == mentions("completed")
    harness.refuses(WarnBudget("most is used"), StaleCommand)


def test_what_a_budget_of_a_run_does_not_say_is_as_the_definition_says() -> None:
    defined = Budget(Decimal(2), 1000, 10)
    assert Budget(max_tokens=5).with_defaults(defined) == Budget(Decimal(2), 5, 10)
    assert Budget(Decimal(1), None, 3).with_defaults(Budget()) == Budget(Decimal(1), None, 3)
