"""What is being decided: the run as it will be, with its events and effects so far."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid5

from cairn.core import moves
from cairn.core.errors import Refused
from cairn.core.messages import (
    ApprovalExpired,
    Dispatch,
    DropWorkspaces,
    Effect,
    Event,
    EventType,
    Given,
    MakeWorkspace,
    MoveToErrored,
    Output,
    Promote,
    SendLater,
    Stop,
    TimedOut,
)
from cairn.core.model import (
    Approval,
    ApprovalStatus,
    Execution,
    Kind,
    Mode,
    Run,
    RunStatus,
    State,
    WaitingOn,
)
from cairn.core.moves import RunVerb, Verb

CLOSED = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})


class Draft:
    def __init__(self, run: Run, given: Given) -> None:
        self.run = run
        self.given = given
        self.events: list[Event] = []
        self.effects: list[Effect] = []
        self._made = 0

    # ---- the three machines ----------------------------------------------------------------------
    def move_run(self, verb: RunVerb, **changes: Any) -> None:
        before = self.run.status
        to = moves.RUN[before].get(verb)
        if to is None:
            raise Refused(
                f"The run is {before.value}: it is not possible to {verb.value} it now.", moves.possible_for(before)
            )
        if to is not before:
            changes |= self._times_of(before, to)
            detail = {"from": before.value, "to": to.value}
            if verb in moves.RUN_EVENTS:
                self.tell(moves.RUN_EVENTS[verb], **detail)
            else:
                self.tell(EventType.RUN_REOPENED, **detail, by=verb.value)
        self.run = replace(self.run, status=to, **changes)
        if to in CLOSED and to is not before:
            self.drop_workspaces(tuple(e for e in self.run.current if e.state is State.COMPLETED))

    def _times_of(self, before: RunStatus, to: RunStatus) -> dict[str, Any]:
        at = self.given.at
        changes: dict[str, Any] = {}
        if before is RunStatus.NOT_STARTED and to is RunStatus.IN_PROGRESS:
            changes["started_at"] = at
        if before is RunStatus.PAUSED:
            changes["last_resumed_at"] = at
        if before is RunStatus.FAILED:
            changes["worked"] = 0.0  # a run that is taken up again has its whole time before it
        changes["paused_at"] = at if to is RunStatus.PAUSED else None
        changes["completed_at"] = at if to in CLOSED else None
        return changes

    def move(self, execution: Execution, verb: Verb, why: dict[str, Any] | None = None, **changes: Any) -> Execution:
        e = self.run.executions[execution.id]
        to = moves.EXECUTION[e.state].get(verb)
        if to is None:
            raise Refused(
                f"The execution is {e.status.value}: it is not possible to {verb.value.replace('_', ' ')} now."
            )
        at = self.given.at
        if e.state is State.WORKING and e.working_since is not None:
            changes.setdefault("worked", e.worked + (at - e.working_since).total_seconds())
            changes["working_since"] = None
        if to is State.WORKING:
            changes |= {"working_since": at, "dispatch": e.dispatch + 1}
        if to in (State.WORKING, State.WAITING) and e.started_at is None:
            changes["started_at"] = at
        if to is not State.WAITING:
            changes["waiting_on"] = None
        if e.due_at is not None:
            changes.setdefault("due_at", None)
        if to is State.COMPLETED:
            changes["completed_at"] = at
        changes["failed_at"] = at if to is State.FAILED else None
        e = self.put(replace(e, state=to, **changes))
        if verb in moves.EXECUTION_EVENTS:
            self.tell(moves.EXECUTION_EVENTS[verb], execution=e, **self._detail(e), **(why or {}))
        elif not self.run.goes_on:
            self.tell(EventType.EXECUTION_READY, execution=e, **self._detail(e), **(why or {}))
        return e

    @staticmethod
    def _detail(e: Execution) -> dict[str, Any]:
        detail: dict[str, Any] = {"checkpoint": e.key}
        match e.state:
            case State.WORKING:
                detail |= {"dispatch_number": e.dispatch, "attempt_number": e.attempt}
            case State.WAITING:
                detail["waiting_on"] = e.waiting_on.value if e.waiting_on else None
            case State.COMPLETED | State.COMPLETION_ASKED:
                detail["digest"] = e.digest
                if e.ruling is not None:
                    detail["decision"] = e.ruling.value
            case State.FAILED:
                detail["error"] = e.last_error.message if e.last_error else None
            case _:
                pass
        return detail

    def close(self, approval: Approval, status: ApprovalStatus, **detail: Any) -> None:
        self.put_approval(replace(approval, status=status, closed_at=self.given.at))
        self.tell(EventType(f"approval_{status.value}"), approval=approval, kind=approval.kind.value, **detail)

    # ---- making and keeping things ------------------------------------------------------------------
    def new_id(self) -> str:
        self._made += 1
        self.run = replace(self.run, issued=self.run.issued + 1)
        return str(uuid5(self.given.command_id, str(self._made)))

    def tell(
        self,
        type: EventType,
        *,
        execution: Execution | None = None,
        approval: Approval | None = None,
        rollback: str | None = None,
        **detail: Any,
    ) -> None:
        of = execution.id if execution else approval.execution if approval else None
        self.events.append(Event(type, of, approval.id if approval else None, rollback, detail))

    def make(self, key: str, **fields: Any) -> Execution:
        plan = self.run.plan
        e = Execution(
            self.new_id(),
            key,
            plan[key].position,
            self.run.pass_number,
            self.run.issued,
            plan.policy(key),
            plan.revision,
            created_at=self.given.at,
            **fields,
        )
        self.put(e)
        detail: dict[str, Any] = {"checkpoint": key, "position": e.position}
        if e.is_rework:
            detail["parent_execution_id"] = e.asked_by
        self.tell(EventType.EXECUTION_MADE, execution=e, **detail)
        self.effects.append(MakeWorkspace(e.id))
        return e

    def ask(self, e: Execution, kind: Kind, digest: str, reason: str = "") -> None:
        policy, at = e.policy, self.given.at
        expires = at + timedelta(seconds=policy.period) if policy.period is not None else None
        needed = 1 if kind in (Kind.INPUT, Kind.ESCALATION) else policy.approvers
        a = Approval(self.new_id(), e.id, kind, digest, at, needed=needed, expires_at=expires, reason=reason)
        self.put_approval(a)
        self.tell(EventType.APPROVAL_ASKED, approval=a, kind=kind.value, digest=digest, reason=reason)
        if policy.period is not None:
            self.effects.append(SendLater(policy.period, ApprovalExpired(a.id, 1)))

    def put(self, e: Execution) -> Execution:
        self.run = replace(self.run, executions={**self.run.executions, e.id: e})
        return e

    def put_approval(self, a: Approval) -> None:
        self.run = replace(self.run, approvals={**self.run.approvals, a.id: a})

    def produce(self, e: Execution, digest: str | None, outputs: tuple[Output, ...], **changes: Any) -> Execution:
        """Keep what a runner has made as the execution's result so far."""
        e = self.put(replace(e, digest=digest, outputs=tuple(o.id for o in outputs), **changes))
        if outputs:
            made = [
                {"artifact_record_id": o.id, "name": o.name, "checksum": o.checksum, "size_bytes": o.size}
                for o in outputs
            ]
            self.tell(EventType.ARTIFACTS_CREATED, execution=e, artifacts=made)
        return e

    # ---- what an execution does -----------------------------------------------------------------------
    def go(self, e: Execution, **changes: Any) -> Execution:
        """Let it go on: `settle` hands it to a runner when the run goes on."""
        self.withdraw(e)
        return self.move(e, Verb.GO, **changes)

    def hand_out(self, e: Execution) -> None:
        """Give it to whoever carries it out: a person with a form, or a runner."""
        self.drop_workspaces(self._left_behind(e))
        if e.policy.mode is Mode.HUMAN_ONLY and not e.answered:
            e = self.move(e, Verb.WAIT, waiting_on=WaitingOn.HUMAN_FORM)
            self.ask(e, Kind.INPUT, e.policy.digest)
            return
        e = self.move(e, Verb.WORK)
        self.effects.append(Dispatch(e.id, e.dispatch))
        if e.policy.timeout is not None:
            self.effects.append(SendLater(max(0.0, e.policy.timeout - e.worked), TimedOut(e.id, e.dispatch)))

    def _left_behind(self, e: Execution) -> tuple[Execution, ...]:
        """Completed executions of stages before this one: their workspaces are no longer needed (D21)."""
        if e.started_at is not None:
            return ()
        plan = self.run.plan
        stage = plan[e.key].stage
        return tuple(
            o
            for o in self.run.current
            if o.has_workspace and o.state is State.COMPLETED and o.position < e.position and plan[o.key].stage != stage
        )

    def drop_workspaces(self, executions: tuple[Execution, ...]) -> None:
        held = tuple(e for e in executions if e.has_workspace)
        for e in held:
            self.put(replace(self.run.executions[e.id], has_workspace=False))
        if held:
            self.effects.append(DropWorkspaces(tuple(e.id for e in held)))

    def withdraw(self, e: Execution) -> None:
        for approval in self.run.pending_of(e.id):
            self.close(approval, ApprovalStatus.WITHDRAWN)

    def stop(self, e: Execution) -> None:
        if e.state is State.WORKING:
            self.effects.append(Stop(e.id, e.dispatch))

    def set_aside(self, e: Execution) -> None:
        """The workspace of what failed or was cancelled goes to `.errored`; one that was never used just goes."""
        e = self.run.executions[e.id]
        if not e.has_workspace:
            return
        if e.started_at is None:
            self.drop_workspaces((e,))
            return
        self.put(replace(e, has_workspace=False))
        self.effects.append(MoveToErrored(e.id))

    def cancel(self, e: Execution, why: str = "") -> None:
        e = self.run.executions[e.id]
        self.stop(e)
        self.withdraw(e)
        self.move(e, Verb.CANCEL, {"reason": why} if why else None)
        self.set_aside(e)

    def complete(self, e: Execution) -> Execution:
        e = self.move(e, Verb.COMPLETE)
        if e.outputs:
            self.tell(EventType.ARTIFACTS_PROMOTED, execution=e, artifact_record_ids=list(e.outputs))
        self.effects.append(Promote(e.id))
        return e
