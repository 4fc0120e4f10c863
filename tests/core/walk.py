"""Random walks over a run: send any command at any time and check the invariants after each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from cairn.core.commands import (
    ActionDecided,
    ActionResumed,
    ArchiveRun,
    Command,
    CommandContext,
    ExecutionTimedOut,
    Report,
    RollBack,
    UndoRollback,
)
from cairn.core.decide import Decision, decide
from cairn.core.errors import CommandRefused, StaleCommand
from cairn.core.rule_verdict import NO_VERDICT, RuleQuestion, RuleVerdict
from cairn.core.run import Run
from cairn.core.states import CLOSED, ApprovalKind, ExecutionState, RunStatus
from tests.core.walk_choices import book, late, policy
from tests.core.walk_helper import run_to_completion
from tests.core.walk_invariants import Ledger, check_decision, check_run

Pick = Callable[[Sequence[Any]], Any]
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Walker:
    """Send commands to one run and check the result of each."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.book: dict[tuple[str, ApprovalKind], RuleVerdict] = {}  # the active rules
        self.ledger = Ledger()
        self.sent = 0
        self.trail: list[tuple[str, Command]] = []
        self.counted: Counter[str] = Counter()

    def context(self, by: str) -> CommandContext:
        spent = "It is spent." if self.sent % 5 == 0 else ""
        return CommandContext(
            BEGIN + timedelta(seconds=self.sent), by, UUID(int=self.sent), self.judge, over_budget=spent
        )

    def judge(self, question: RuleQuestion) -> RuleVerdict:
        return self.book.get((question.checkpoint, question.kind), NO_VERDICT)

    def change_rules(self, pick: Pick) -> None:
        """Replace the active rules."""
        self.book = book(pick, self.run.plan)

    def send(self, command: Command, by: str = "ann") -> Decision | None:
        before = self.run
        self.sent += 1
        context = self.context(by)
        self.counted.update(("commands", type(command).__name__))
        try:
            decision = decide(before, command, context)
        except CommandRefused:
            self.counted["refused"] += 1
            return None
        self.trail.append((by, command))
        self.run = decision.run
        if isinstance(command, ActionResumed) and not decision.events:
            assert (decision.run, decision.effects) == (before, ())
            return decision
        if self.sent % 7 == 0:  # cached values of a run make no difference
            assert decide(loaded(before), command, context) == decision
        check_decision(self.ledger, before, command, decision)
        self._send_again(command, by)
        check_run(self.ledger, self.run, context)
        return decision

    def _send_again(self, command: Command, by: str) -> None:
        """Repeating a command changes nothing, except that votes on actions are counted elsewhere."""
        if isinstance(command, ActionDecided) and command.status is None:
            return
        self.sent += 1
        try:
            again = decide(self.run, command, self.context(by))
        except CommandRefused:
            return
        if isinstance(command, ActionResumed) and (again.run, again.events) == (self.run, ()):
            return
        raise AssertionError(f"{command} was applied twice: {again.events}")

    def edit(self, pick: Pick) -> None:
        """Edit the definition. Later executions use another policy."""
        plan = self.run.plan
        policies = {checkpoint.key: policy(pick) for checkpoint in plan.checkpoints}
        self.run = self.run.replace(plan=replace(plan, policies=policies, revision=plan.revision + 1))

    def send_late(self, pick: Pick) -> None:
        """Send a late or repeated report, or one for an archived execution."""
        command = pick(late(self.run))
        e = self.run.index.current.get(getattr(command, "execution", ""))
        holds = e is not None and self.run.archived_by is None and e.active_since is not None
        if isinstance(command, Report | ExecutionTimedOut) and not (e and holds and e.dispatch == command.dispatch):
            try:
                decide(self.run, command, self.context("worker"))
            except StaleCommand:
                self.counted.update(("commands", "stale"))
                return
            raise AssertionError(f"late, but applied: {command}")
        self.send(command)

    def check_can_end(self) -> None:
        """Check that a rollback could be undone now and that the run can still complete."""
        self.sent += 2
        check_undone(self.run, replace(self.context("ann"), command_id=UUID(int=self.sent - 1)), self.context("bob"))
        run_to_completion(self.run)


def loaded(run: Run) -> Run:
    """Return a copy without cached values, as if loaded from the database."""
    return Run(**{field.name: getattr(run, field.name) for field in fields(run)})


def check_undone(run: Run, ann: CommandContext, bob: CommandContext) -> None:
    """Check that a rollback undone at once only stops open executions."""
    commands: list[Command] = [RollBack("there", e.position) for e in run.index.done.values()]
    for command in [*commands, RollBack("there", -1), ArchiveRun("there")]:
        try:
            there = decide(run, command, ann).run
        except CommandRefused:
            continue
        if there.pass_number != run.pass_number:  # a pending restart was waiting for the run to resume
            continue
        back = decide(there, UndoRollback("there"), bob).run
        if back.pass_number != run.pass_number:  # a stopped execution delayed the required second pass
            continue
        status = RunStatus.PAUSED if back.pause_requested else back.status
        if run.status in CLOSED or back.open:  # the last open execution may have been stopped
            assert (status, back.completed_at) == (run.status, run.completed_at)
        assert back.index.done == {key: back.executions[e.id] for key, e in run.index.done.items()}
        assert {e.id for e in run.failed} <= {e.id for e in back.failed}
        stopped = there.rollbacks[-1].stopped
        assert {back.executions[key].state for key in stopped} <= {ExecutionState.CANCELLED}
        assert {e.id for e in run.open} <= {*stopped, *(e.id for e in back.open)}
