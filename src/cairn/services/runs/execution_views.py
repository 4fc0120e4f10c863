"""Executions, with their errors, context and validations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from cairn.core.states import ExecutionMode, ExecutionStatus, WaitingOn
from cairn.services.approvals.views import Approval, Form
from cairn.services.artifacts.views import Artifact
from cairn.services.costs.views import Usage
from cairn.services.rework.views import StaleInput
from cairn.services.view import Document, Id, Instant, Page, View


class LastError(View):
    timestamp: Instant | None
    error_type: str
    error_message: str
    stack_trace: str


class AttemptError(LastError):
    """The error of a failed attempt."""

    attempt_number: int


class ErrorDetails(View):
    error_count: int
    last_error: LastError | None
    attempts: Annotated[list[AttemptError], Field(description="Errors of failed attempts, oldest first.")]


class Interaction(View):
    """An interaction of a person with the execution."""

    interaction_id: Id
    timestamp: Instant
    type: str
    user_input: str
    system_response: str
    actor: str


class Progress(View):
    fraction: float | None
    text: str | None


class ExecutionProgress(Progress):
    """Progress that an execution reports."""

    execution_id: Id


class Execution(View):
    execution_id: Id
    run_id: Id
    pipeline_id: Id
    checkpoint_id: Id
    checkpoint_key: str
    checkpoint_name: str
    checkpoint_description: str
    checkpoint_position: int
    mode: ExecutionMode
    status: ExecutionStatus
    waiting_on: WaitingOn | None
    created_at: Instant
    started_at: Instant | None
    completed_at: Instant | None
    failed_at: Instant | None
    attempt_number: int
    max_attempts: int
    revision_iteration: int
    max_revision_iterations: int
    dispatch_number: int
    pass_number: int
    temp_workspace_path: str
    permanent_output_path: str
    parent_execution_id: Id | None
    regression_context: Document | None
    superseded_by: Id | None
    stale_inputs: list[StaleInput]
    archived_by: Id | None
    sandbox: Literal["bubblewrap", "process"] | None  # of the script's process
    retry_due_at: Instant | None
    active_seconds: float
    digest: str | None
    error_details: ErrorDetails
    validations: Annotated[list[ResultValidation], Field(description="Checks of its results, oldest first.")]
    artifacts_generated: list[Artifact]
    human_interactions: list[Interaction]
    approval: Approval | None
    form: Form | None
    progress: Progress | None
    usage: Annotated[Usage, Field(description="Model usage so far, over all attempts.")]
    available_commands: list[str]
    warnings: list[str]


class ExecutionPage(Page[Execution]):
    """Executions, oldest first."""


class ContextBlock(View):
    kind: Literal[
        "previous_version",
        "checkpoint_output",
        "previous_pass",
        "rework",
        "revision_feedback",
        "original_prompt",
        "input",
        "validation_findings",
    ]
    heading: str
    checkpoint_name: str | None
    run_version: int | None
    artifact_name: str | None
    file_path: str | None
    content: str | None
    size_bytes: int


class Context(View):
    """The context of a runner: the stored one, or a preview of it."""

    stored: bool
    content_format: Literal["markdown", "xml", "json"]
    input: Any
    blocks: list[ContextBlock]
    system_prompt: str
    task_prompt: str
    text: str
    size_characters: int
    estimated_tokens: Annotated[int, Field(description="Estimated number of tokens.")] = 0


class ResultFinding(View):
    """A mismatch between the expected and the actual result."""

    path: Annotated[str, Field(description="File and location: `report.md`, `data.json#/n`.")]
    message: str
    expected: str
    actual: str


class ResultValidation(View):
    """The verdict of one validation of a result."""

    attempt_number: int
    revision_iteration: int
    at: Instant
    check: Annotated[
        Literal["schema", "lenient", "custom"],
        Field(
            description="`schema`: the declared outputs. `lenient`: a model that judges small mismatches."
            " `custom`: a model with the checkpoint's validation prompt."
        ),
    ]
    passed: bool
    reason: Annotated[str, Field(description="Reason from the model.")]
    findings: list[ResultFinding]
    model: str | None
    is_simulated: bool
