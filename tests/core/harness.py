"""A run in memory: build a plan in one line, send commands, inspect the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import pytest

from cairn.core.approval import Approval
from cairn.core.commands import (
    ActionDecided,
    ActionProposed,
    ActionRequest,
    ArtifactOutput,
    ArtifactRef,
    Command,
    CommandContext,
    Decide,
    ExecutionFailed,
    ExecutionFinished,
    ExecutionTimedOut,
    RetryDue,
    StartRun,
)
from cairn.core.decide import Decision, decide
from cairn.core.effects import Effect
from cairn.core.errors import CommandRefused
from cairn.core.events import EventType
from cairn.core.execution import Execution, Failure
from cairn.core.plan import Checkpoint, CheckpointPolicy, Plan
from cairn.core.rule_verdict import ApprovalTerms, Judge, RiskLevel, RuleQuestion, RuleVerdict, no_rules
from cairn.core.run import Run
from cairn.core.states import ActionState, ApprovalKind, ExecutionState, PassDecision
from cairn.core.transitions import DECISIONS

BEGIN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
BROKEN = Failure("broken", "it broke")
RESULT = ArtifactOutput("artifact-1", "result", "c" * 64, 3)
ARTIFACTS = {RESULT.id: ArtifactRef(RESULT.id, RESULT.name, "json", RESULT.checksum, RESULT.size)}
F = TypeVar("F", bound=Effect)


def plan_of(
    *stages: str | tuple[str, ...],
    needs: Mapping[str, tuple[str, ...]] | None = None,
    decides: tuple[str, ...] = (),
    policies: Mapping[str, CheckpointPolicy] | None = None,
    **settings: Any,
) -> Plan:
    """Each argument is a stage: one key, or several that run side by side. `auto_advance` defaults to true."""
    checkpoints: list[Checkpoint] = []
    for number, stage in enumerate(stages):
        for key in (stage,) if isinstance(stage, str) else stage:
            own = (needs or {}).get(key, ())
            checkpoints.append(Checkpoint(key, len(checkpoints), f"stage {number}", own, key in decides))
    settings.setdefault("auto_advance", True)
    return Plan(tuple(checkpoints), policies or {}, **settings)


def request_for(
    action: str = "action-1", digest: str = "act", kind: ApprovalKind = ApprovalKind.ACTION, **more: Any
) -> ActionRequest:
    """The approval of an action that people decide on."""
    more.setdefault("verdict", RuleVerdict(requires_approval=True))
    return ActionRequest(action, kind, digest, "send_email", RiskLevel.HIGH, **more)


def require_approval_for(*kinds: ApprovalKind, **terms: Any) -> Judge:
    """Return a rule that requires approval for these kinds, on these terms."""

    def judge(question: RuleQuestion) -> RuleVerdict:
        asks = True if question.kind in kinds else None
        return RuleVerdict(asks, "careful", "global", 1, terms=ApprovalTerms(**terms)) if asks else RuleVerdict()

    return judge


def find_artifacts(ids: Sequence[str]) -> Sequence[ArtifactRef]:
    return [ARTIFACTS[artifact] for artifact in ids]


class Harness:
    def __init__(self, plan: Plan, *, started: bool = True, judge: Judge = no_rules) -> None:
        self.run = Run("run", plan)
        self.judge = judge
        self.at = BEGIN
        self.sent = 0
        self.last = Decision(self.run, (), ())
        if started:
            self.send(StartRun())

    # ---- sending -----------------------------------------------------------------------------------
    def send(self, command: Command, by: str = "ann", after: float = 1.0) -> Decision:
        self.at += timedelta(seconds=after)
        self.sent += 1
        self.last = decide(self.run, command, self.context(by))
        self.run = self.last.run
        return self.last

    def context(self, by: str) -> CommandContext:
        return CommandContext(self.at, by, UUID(int=self.sent), self.judge, artifacts=find_artifacts)

    def refuses(
        self, command: Command, error: type[CommandRefused] = CommandRefused, by: str = "ann"
    ) -> CommandRefused:
        before = self.run
        with pytest.raises(error) as raised:
            self.send(command, by)
        assert type(raised.value) is error
        assert self.run is before
        return raised.value

    def finish(
        self, key: str, digest: str = "d", *, pass_decision: PassDecision | None = None, after: float = 1.0
    ) -> Decision:
        e = self.e(key)
        return self.send(ExecutionFinished(e.id, e.dispatch, digest, (RESULT,), pass_decision), "worker", after)

    def fail(self, key: str, error: Failure = BROKEN) -> Decision:
        e = self.e(key)
        return self.send(ExecutionFailed(e.id, e.dispatch, error), "worker")

    def answer(self, key: str, decision: str, by: str = "ann", after: float = 1.0, **more: Any) -> Decision:
        return self.send(Decide(self.pending_approval(key).id, decision, **more), by, after)

    def propose(self, key: str, digest: str = "act", **request: Any) -> Decision:
        """Propose an action that waits for people."""
        return self.report_action(key, ActionState.WAITING, request_for(digest=digest, **request))

    def report_action(
        self, key: str, state: ActionState, request: ActionRequest | None = None, reason: str = ""
    ) -> Decision:
        e = self.e(key)
        return self.send(ActionProposed(e.id, e.dispatch, state, request, reason), "worker")

    def decide_action(self, key: str, decision: str, by: str = "ann", **more: Any) -> Decision:
        """The last decision on the only pending action."""
        a = self.pending_approval(key)
        return self.send(ActionDecided(a.id, decision, DECISIONS[a.kind][decision], **more), by)

    def time_out(self, key: str) -> Decision:
        e = self.e(key)
        return self.send(ExecutionTimedOut(e.id, e.dispatch), "timer")

    def retry_due(self, key: str) -> Decision:
        e = self.e(key)
        return self.send(RetryDue(e.id, e.dispatch), "timer")

    # ---- inspecting ----------------------------------------------------------------------------------
    def e(self, key: str) -> Execution:
        """Return the newest execution of a checkpoint."""
        return [e for e in self.run.executions.values() if e.key == key][-1]

    def all(self, key: str) -> list[ExecutionState]:
        return [e.state for e in self.run.executions.values() if e.key == key]

    @property
    def states(self) -> dict[str, str]:
        """The state of the newest unarchived execution, by checkpoint key."""
        return {e.key: e.state.name for e in self.run.current}

    def pending_approval(self, key: str) -> Approval:
        (approval,) = self.run.pending_of(self.e(key).id)
        return approval

    @property
    def event_types(self) -> list[str]:
        return [event.type.value for event in self.last.events]

    def event_detail(self, type: EventType) -> dict[str, Any]:
        """Return the detail of the only event of this type from the last command."""
        (event,) = [event for event in self.last.events if event.type is type]
        return dict(event.detail)

    def effects(self, type: type[F]) -> list[F]:
        return [effect for effect in self.last.effects if isinstance(effect, type)]
