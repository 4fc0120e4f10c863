"""An exhausted budget pauses the run until the budget is raised."""

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


class BudgetHarness(Harness):
    """A harness whose context reports an exceeded budget."""

    over_budget: str = SPENT

    def context(self, by: str) -> CommandContext:
        return replace(super().context(by), over_budget=self.over_budget)


def reach_budget(harness: Harness, key: str = "a") -> None:
    e = harness.e(key)
    harness.send(BudgetReached(e.id, e.dispatch, SPENT), "worker")


def test_an_exhausted_budget_pauses_the_run_with_a_reason() -> None:
    harness = BudgetHarness(plan_of("a", "b"))
    reach_budget(harness)
    assert (harness.run.status, harness.run.over_budget, harness.states) == (RunStatus.PAUSED, SPENT, {"a": "READY"})
    assert harness.event_types == ["budget_exhausted", "pause_requested", "execution_ready", "run_paused"]
    assert harness.event_detail(EventType.BUDGET_EXHAUSTED) == {"checkpoint": "a", "reason": SPENT}
    assert harness.event_detail(EventType.RUN_PAUSED)["reason"] == SPENT


def test_a_run_resumes_only_with_budget_left() -> None:
    harness = BudgetHarness(plan_of("a"))
    reach_budget(harness)
    error = harness.refuses(ResumeRun())
    assert error.message.startswith(SPENT)
    assert error.suggestions == (mentions(), "cancel")
    harness.send(SetBudget(Budget(max_cost_usd=Decimal("2.5"))))
    assert harness.run.status is RunStatus.PAUSED
    harness.over_budget = ""
    harness.send(ResumeRun())
    assert (harness.run.status, harness.run.over_budget, harness.states) == (
        RunStatus.IN_PROGRESS,
        "",
        {"a": "WORKING"},
    )
    assert harness.e("a").dispatch == 2


def test_other_executions_finish_first_and_none_starts() -> None:
    harness = BudgetHarness(plan_of(("a", "b"), "c"))
    reach_budget(harness, "a")
    assert (harness.run.status, harness.run.pause_requested) == (RunStatus.IN_PROGRESS, True)
    assert harness.refuses(ResumeRun()).message.startswith(SPENT)
    reach_budget(harness, "b")
    assert harness.event_types == ["execution_ready", "run_paused"]
    harness.over_budget = ""
    harness.send(ResumeRun())
    assert harness.states == {"a": "WORKING", "b": "WORKING"}


def test_resuming_a_requested_pause_needs_no_budget() -> None:
    harness = BudgetHarness(plan_of("a", "b"))
    harness.send(PauseRun())
    harness.finish("a")
    harness.send(ResumeRun())
    assert harness.states["b"] == "WORKING"


@pytest.mark.parametrize("command", [CancelRun(), RestartRun(1), RollBack("r", -1)])
def test_other_commands_that_continue_the_run_ignore_the_budget(command: Command) -> None:
    """The runner still gets an error before its next call."""
    harness = BudgetHarness(plan_of("a"))
    reach_budget(harness)
    harness.send(command)
    assert harness.run.over_budget == ""
    assert harness.run.status is not RunStatus.PAUSED


def test_a_run_budget_is_set_and_removed() -> None:
    harness = Harness(plan_of("a"))
    harness.send(WarnBudget("most is used"))
    assert (harness.event_types, harness.run.budget_warned) == (["budget_warning"], True)
    assert harness.event_detail(EventType.BUDGET_WARNING) == {"reason": "most is used"}
    harness.refuses(WarnBudget("more is used"), StaleCommand)
    budget = Budget(Decimal("0.50"), 1000)
    harness.send(SetBudget(budget))
    assert harness.event_detail(EventType.BUDGET_UPDATED) == {
        "from": {},
        "to": {"max_cost_usd": "0.50", "max_tokens": 1000},
    }
    assert (harness.run.budget, harness.run.budget_warned) == (budget, False)
    harness.refuses(SetBudget(budget), AlreadyApplied)
    harness.send(SetBudget(Budget()))
    harness.finish("a")
    assert harness.refuses(SetBudget(budget)).message == mentions("completed")
    harness.refuses(WarnBudget("most is used"), StaleCommand)


def test_missing_limits_of_a_run_budget_come_from_the_definition() -> None:
    defined = Budget(Decimal(2), 1000, 10)
    assert Budget(max_tokens=5).with_defaults(defined) == Budget(Decimal(2), 5, 10)
    assert Budget(Decimal(1), None, 3).with_defaults(Budget()) == Budget(Decimal(1), None, 3)
