"""A Hypothesis state machine over runs, approvals, rollbacks, reworks, timers and late results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from cairn.core.commands import Command
from cairn.core.run import Run
from cairn.core.states import RunStatus
from tests.core import walk_choices as choices
from tests.core.walk import Walker
from tests.core.walk_helper import next_command
from tests.effort import examples

PEOPLE = st.sampled_from(["ann", "bob", "rule:7"])


class Walk(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.walker = Walker(Run("run", choices.plan(lambda options: options[0])))

    @initialize(data=st.data())
    def initialize_run(self, data: st.DataObject) -> None:
        self.walker = Walker(Run("run", choices.plan(lambda options: data.draw(st.sampled_from(options)))))

    def offer(self, data: st.DataObject, commands: Sequence[Command]) -> None:
        self.walker.send(data.draw(st.sampled_from(commands)), data.draw(PEOPLE))

    @precondition(lambda self: self.walker.run.is_working)
    @rule(data=st.data())
    def runner_reports(self, data: st.DataObject) -> None:
        self.offer(data, choices.reports(self.walker.run))

    @precondition(lambda self: self.walker.run.is_working)
    @rule(data=st.data())
    def runner_finishes(self, data: st.DataObject) -> None:
        self.offer(data, choices.finishes(self.walker.run))

    @precondition(lambda self: self.walker.run.pending)
    @rule(data=st.data())
    def user_decides(self, data: st.DataObject) -> None:
        self.offer(data, choices.decisions(self.walker.run))

    @precondition(lambda self: bool(choices.resumptions(self.walker.run)))
    @rule(data=st.data())
    def held_action_is_resumed(self, data: st.DataObject) -> None:
        self.offer(data, choices.resumptions(self.walker.run))

    @precondition(lambda self: bool(choices.timers(self.walker.run)))
    @rule(data=st.data())
    def timer_fires(self, data: st.DataObject) -> None:
        self.offer(data, choices.timers(self.walker.run))

    @rule(data=st.data())
    def user_sends_command(self, data: st.DataObject) -> None:
        self.offer(data, choices.requests(self.walker.run))

    @rule(data=st.data())
    def user_interrupts_run(self, data: st.DataObject) -> None:
        self.offer(data, choices.interruptions(self.walker.run))

    @rule(data=st.data())
    def late_command_arrives(self, data: st.DataObject) -> None:
        def pick(options: Sequence[Any]) -> Any:
            return data.draw(st.sampled_from(options))

        self.walker.send_late(pick)

    @rule(data=st.data())
    def definition_is_edited(self, data: st.DataObject) -> None:
        self.walker.edit(lambda options: data.draw(st.sampled_from(options)))

    @rule(data=st.data())
    def rules_are_changed(self, data: st.DataObject) -> None:
        self.walker.change_rules(lambda options: data.draw(st.sampled_from(options)))

    @precondition(lambda self: self.walker.run.status is not RunStatus.COMPLETED)
    @rule()
    def helper_advances_run(self) -> None:
        self.walker.send(next_command(self.walker.run, self.walker.sent), f"helper {self.walker.sent}")

    @rule()
    def check_run_can_end(self) -> None:
        self.walker.check_can_end()

    def teardown(self) -> None:
        self.walker.check_can_end()


TestWalk = Walk.TestCase
TestWalk.settings = settings(
    max_examples=examples(50),
    stateful_step_count=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    phases=[Phase.generate, Phase.shrink],
)
