"""Runs, with their checkpoints and progress."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.core.states import ExecutionMode, ExecutionStatus, RunStatus, WaitingOn
from cairn.services.approvals.views import Approval
from cairn.services.costs.views import RunBudget, Usage
from cairn.services.runs.execution_views import Progress
from cairn.services.view import Id, Instant, Page, View


class RunMetadata(View):
    total_checkpoints: int
    completed_checkpoints: int
    failed_checkpoints: int
    paused_checkpoint_position: int | None


class OpenExecution(View):
    """An execution that is in progress or waiting: see `status` and `waiting_on`."""

    execution_id: Id
    checkpoint_id: Id
    checkpoint_name: str
    checkpoint_position: int
    status: ExecutionStatus
    waiting_on: WaitingOn | None
    retry_due_at: Instant | None
    created_at: Instant
    progress: Progress | None


class RunSummary(View):
    run_id: Id
    pipeline_id: Id
    pipeline_name: str
    pipeline_definition_version: int
    run_version: int | None  # null for test runs
    test: bool
    status: RunStatus
    pause_requested: bool
    created_at: Instant
    created_by: str
    started_at: Instant | None
    completed_at: Instant | None
    metadata: RunMetadata
    current_checkpoint_id: Id | None
    current_checkpoint_position: int | None
    pending_approval_count: Annotated[int, Field(description="Number of pending approvals.")]
    pending_start_count: Annotated[int, Field(description="Number of checkpoints that have to be started manually.")]
    open_executions: Annotated[list[OpenExecution], Field(description="In progress or waiting, in order of position.")]
    archived_by: Id | None
    over_budget: Annotated[str | None, Field(description="Why the run is paused, if its budget is exhausted.")]
    usage: Annotated[Usage, Field(description="Model usage so far.")]


class RunPage(Page[RunSummary]):
    """Runs, newest first."""


class RecentRun(View):
    run_id: Id
    run_version: int | None
    status: RunStatus


class RunCheckpoint(View):
    """A checkpoint of the run with its current execution."""

    position: int
    checkpoint_id: Id
    key: str
    name: str
    description: str
    stage: str
    mode: ExecutionMode
    needs: list[str]
    requires_approval_to_start: bool
    requires_approval_to_complete: bool
    execution_id: Id | None
    status: ExecutionStatus | Literal["upcoming"]
    waiting_on: WaitingOn | None
    attempt_number: int
    revision_iteration: int
    started_at: Instant | None
    completed_at: Instant | None
    active_seconds: float
    artifact_count: int
    error_message: str | None
    retry_due_at: Instant | None
    progress: Progress | None
    is_rework: bool
    is_stale: Annotated[bool, Field(description="Whether an artifact that it read has a newer version.")]


class RunProgress(View):
    completed: int
    total: int
    elapsed_seconds: float
    estimated_seconds_left: Annotated[
        float | None,
        Field(description="Estimated from earlier runs of the same definition. Null if unknown."),
    ]
    current: list[str]


class Run(RunSummary):
    """A run with its checkpoints, pending approvals and available commands."""

    paused_at: Instant | None
    last_resumed_at: Instant | None
    previous_run_id: Id | None
    extends_from_run_version: int | None
    original_prompt: str | None
    pass_number: int
    restart_count: int
    checkpoint_execution_history: list[Id]
    rollback_history: list[Id]
    checkpoints: list[RunCheckpoint]
    progress: RunProgress
    available_commands: list[str]
    pending_approvals: list[Approval]
    budget: RunBudget
    warnings: list[str]
