"""A decision in progress: the next run, with its events and effects so far."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.core import transitions
from cairn.core.approval import Approval
from cairn.core.commands import ArtifactOutput, CommandContext
from cairn.core.effects import (
    CreateWorkspace,
    DeleteWorkspaces,
    Effect,
    MoveToErrored,
    PromoteArtifacts,
    StageArtifacts,
    StopExecution,
)
from cairn.core.errors import CommandRefused
from cairn.core.events import Event, EventType
from cairn.core.execution import Execution
from cairn.core.ids import id_of
from cairn.core.run import Rollback, Run
from cairn.core.states import CLOSED, ApprovalStatus, ExecutionState, RunStatus, label
from cairn.core.transitions import ExecutionTransition, RunTransition


class Draft:
    def __init__(self, run: Run, context: CommandContext) -> None:
        self.run = run
        self.context = context
        self.events: list[Event] = []
        self.effects: list[Effect] = []
        self._created = 0

    def record(
        self,
        type: EventType,
        subject: Execution | Approval | None = None,
        *,
        rollback: str | None = None,
        **detail: Any,
    ) -> None:
        if isinstance(subject, Approval):
            self.events.append(Event(type, subject.execution, subject.id, rollback, detail))
        else:
            self.events.append(Event(type, subject.id if subject else None, None, rollback, detail))

    # The run.
    def move_run(self, transition: RunTransition, reason: str = "") -> None:
        before = self.run.status
        to = transitions.RUN[before].get(transition)
        if to is None:
            raise CommandRefused(
                f"The run is {label(before)}. You can't {transition.value} it now.",
                transitions.available_transitions(before),
            )
        if self.run.pause_requested and transition not in transitions.KEEPS_PAUSE:
            self.run = self.run.replace(pause_requested=False)
            if transition is not RunTransition.PAUSE:
                self.record(EventType.PAUSE_CANCELLED, reason=transition.value)
        if self.run.over_budget and transition not in transitions.KEEPS_PAUSE | {RunTransition.PAUSE}:
            self.run = self.run.replace(over_budget="")
        if to is before:
            return
        detail: dict[str, Any] = {"from": before.value, "to": to.value}
        if reason:
            detail["reason"] = reason
        if transition in transitions.RUN_EVENTS:
            self.record(transitions.RUN_EVENTS[transition], **detail)
        else:
            self.record(EventType.RUN_REOPENED, **detail, transition=transition.value.replace(" ", "_"))
        self.run = self.run.replace(status=to, **self._timestamps(to))
        if to in CLOSED:
            self.delete_workspaces(tuple(e for e in self.run.current if e.state is ExecutionState.COMPLETED))

    def _timestamps(self, to: RunStatus) -> dict[str, Any]:
        run, at = self.run, self.context.at
        changes: dict[str, Any] = {"paused_at": None, "completed_at": None}
        if to is RunStatus.PAUSED:
            changes["paused_at"] = at
        elif to in CLOSED:
            changes["completed_at"] = at
        else:
            changes["started_at"] = run.started_at or at
            if run.status is RunStatus.PAUSED:
                changes["last_resumed_at"] = at
            if run.status in CLOSED:
                changes["active_seconds"] = 0.0  # a reopened run has its full time again
        return changes

    def restore_run(self, record: Rollback) -> None:
        """Restore the status from before a rollback."""
        before, to = self.run.status, transitions.RESTORED[record.status_before]
        was_paused = record.status_before is RunStatus.PAUSED
        self.run = self.run.replace(
            status=to,
            pause_requested=was_paused,
            over_budget=self.run.over_budget if was_paused else "",
            paused_at=None,
            completed_at=(record.completed_before or self.context.at) if to in CLOSED else None,
            archived_by=None,
        )
        detail: dict[str, Any] = {"from": before.value, "to": to.value}
        self.record(EventType.ROLLBACK_UNDONE, rollback=record.id, **detail)

    def request_pause(self, reason: str) -> None:
        if not self.run.pause_requested:
            self.run = self.run.replace(pause_requested=True)
            self.record(EventType.PAUSE_REQUESTED, reason=reason)

    # Executions.
    def move(self, e: Execution, transition: ExecutionTransition, reason: str = "", **changes: Any) -> Execution:
        e = self.run.executions[e.id]
        to = transitions.EXECUTION[e.state].get(transition)
        if to is None:
            raise CommandRefused(
                f"The execution is {label(e.status)}. It can't {transition.value.replace('_', ' ')} now."
            )
        at = self.context.at
        if e.active_since is not None:
            changes = {
                "active_seconds": e.active_seconds + seconds_between(e.active_since, at),
                **changes,
                "active_since": None,
            }
        if to is ExecutionState.WORKING:
            changes |= {"active_since": at, "dispatch": e.dispatch + 1}
        if to in (ExecutionState.WORKING, ExecutionState.WAITING) and e.started_at is None:
            changes["started_at"] = at
        if to is ExecutionState.COMPLETED:
            changes["completed_at"] = at
        after = {
            "waiting_on": None,
            "due_at": None,
            "failed_at": at if to is ExecutionState.FAILED else None,
            **changes,
        }
        e = self.update(e.replace(state=to, **after))
        event = transitions.EXECUTION_EVENTS.get(transition)
        if event is None and not self.run.can_dispatch:  # otherwise the dispatch follows at once
            event = EventType.EXECUTION_READY
        if event is not None:
            self.record(event, e, **_detail(e, reason))
        return e

    def create(self, key: str, **fields: Any) -> Execution:
        plan = self.run.plan
        e = Execution(
            self.new_id(),
            key,
            plan[key].position,
            self.run.pass_number,
            self.run.created_count,
            plan.policy(key),
            plan.revision,
            created_at=self.context.at,
            **fields,
        )
        self.update(e)
        detail: dict[str, Any] = {"checkpoint": key, "position": e.position}
        if e.is_rework:
            detail["parent_execution_id"] = e.parent_execution
        self.record(EventType.EXECUTION_CREATED, e, **detail)
        self.effects.append(CreateWorkspace(e.id))
        return e

    def update(self, e: Execution) -> Execution:
        self.run = self.run.with_executions(e)
        return e

    @property
    def next_id(self) -> str:
        """The id of the next execution or approval."""
        return created_id(self.context.command_id, self.run.id, self._created + 1)

    def new_id(self) -> str:
        self._created += 1
        self.run = self.run.replace(created_count=self.run.created_count + 1)
        return created_id(self.context.command_id, self.run.id, self._created)

    @property
    def is_repeated(self) -> bool:
        """Whether this command has already created an execution of the run."""
        return created_id(self.context.command_id, self.run.id, 1) in self.run.executions

    def make_ready(self, e: Execution, **changes: Any) -> Execution:
        """Make an execution ready. `settle` dispatches it unless the run is paused. Its pass decision is dropped."""
        changes.setdefault("pass_decision", None)
        return self.move(e, ExecutionTransition.MAKE_READY, **changes)

    def set_result(self, e: Execution, digest: str | None, outputs: tuple[ArtifactOutput, ...]) -> Execution:
        """Set the execution's result so far."""
        e = self.update(e.replace(digest=digest, outputs=tuple(o.id for o in outputs)))
        if outputs:
            artifacts = [
                {"artifact_record_id": o.id, "name": o.name, "checksum": o.checksum, "size_bytes": o.size}
                for o in outputs
            ]
            self.record(EventType.ARTIFACTS_CREATED, e, artifacts=artifacts)
        return e

    def stage(self, e: Execution) -> None:
        if e.outputs:
            self.effects.append(StageArtifacts(e.id))

    def complete(self, e: Execution) -> Execution:
        e = self.move(e, ExecutionTransition.COMPLETE)
        if e.outputs:
            self.record(EventType.ARTIFACTS_PROMOTED, e, artifact_record_ids=list(e.outputs))
        self.effects.append(PromoteArtifacts(e.id))
        return e

    def stop(self, e: Execution) -> None:
        if e.state is ExecutionState.WORKING:
            self.effects.append(StopExecution(e.id, e.dispatch))

    def cancel(self, e: Execution, reason: str) -> None:
        e = self.run.executions[e.id]
        self.stop(e)
        self.withdraw(e, reason)
        self.discard_workspace(self.move(e, ExecutionTransition.CANCEL, reason))

    def cancel_open(self, reason: str) -> None:
        for e in self.run.open:
            self.cancel(e, reason)

    def discard_workspace(self, e: Execution) -> None:
        """Move the workspace of a failed or cancelled execution to `.errored`, or delete it if it was never used."""
        if not e.has_workspace:
            return
        if e.started_at is None:
            self.delete_workspaces((e,))
            return
        self.update(e.replace(has_workspace=False))
        self.effects.append(MoveToErrored(e.id))

    def delete_workspaces(self, executions: tuple[Execution, ...]) -> None:
        changed = tuple(e.replace(has_workspace=False) for e in executions if e.has_workspace)
        if changed:
            self.run = self.run.with_executions(*changed)
            self.effects.append(DeleteWorkspaces(tuple(e.id for e in changed)))

    # Approvals.
    def update_approval(self, a: Approval) -> Approval:
        self.run = self.run.with_approval(a)
        return a

    def close(self, a: Approval, status: ApprovalStatus, **detail: Any) -> None:
        a = self.update_approval(a.replace(status=status, closed_at=self.context.at))
        self.record(EventType(f"approval_{status.value}"), a, kind=a.kind.value, **detail)

    def withdraw(self, e: Execution, reason: str) -> None:
        for a in self.run.pending_of(e.id):
            self.close(a, ApprovalStatus.WITHDRAWN, reason=reason)


def created_id(command: UUID, run: str, number: int) -> str:
    """The id of the nth object that a command creates in a run. A command can be sent to several runs."""
    return id_of(command, f"{run}/{number}")


def seconds_between(start: datetime, end: datetime) -> float:
    """The seconds between two times. Never negative, because the clocks of two machines can differ."""
    return max(0.0, (end - start).total_seconds())


def _detail(e: Execution, reason: str) -> dict[str, Any]:
    detail: dict[str, Any] = {"checkpoint": e.key, "reason": reason} if reason else {"checkpoint": e.key}
    match e.state:
        case ExecutionState.WORKING:
            detail |= {"dispatch_number": e.dispatch, "attempt_number": e.attempt}
        case ExecutionState.WAITING:
            detail["waiting_on"] = e.waiting_on and e.waiting_on.value
        case ExecutionState.COMPLETED | ExecutionState.AWAITING_COMPLETION_APPROVAL:
            detail["digest"] = e.digest
            if e.pass_decision is not None:
                detail["decision"] = e.pass_decision.value
        case ExecutionState.FAILED:
            detail |= {"attempt_number": e.attempt, **(e.last_error.event_fields if e.last_error else {})}
        case _:
            pass
    return detail
