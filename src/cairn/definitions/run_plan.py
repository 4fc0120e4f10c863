"""Compile a definition into the plan of a run: the graph, and the policy of each checkpoint."""

from __future__ import annotations

from cairn.core.plan import Checkpoint, CheckpointPolicy, Plan
from cairn.core.states import OnBlocker
from cairn.definitions.model import CheckpointDefinition, PipelineDefinition
from cairn.documents import digest

_TIMES = {"created_at", "updated_at"}


def compile_graph(definition: PipelineDefinition) -> tuple[Checkpoint, ...]:
    return tuple(
        Checkpoint(
            key=checkpoint.key,
            position=position,
            stage=checkpoint.stage_name,
            needs=checkpoint.needs,
            decides=checkpoint.decides,
            id=checkpoint.checkpoint_id or "",
            name=checkpoint.checkpoint_name,
        )
        for position, checkpoint in enumerate(definition.checkpoints)
    )


def compile_policies(definition: PipelineDefinition) -> dict[str, CheckpointPolicy]:
    return {checkpoint.key: _policy(checkpoint) for checkpoint in definition.checkpoints}


def compile_plan(started: PipelineDefinition, newest: PipelineDefinition, *, revision: int = 1) -> Plan:
    """Combine the graph of the definition that the run started with and all other settings of the newest definition.

    `revision` is the revision of `newest`.
    """
    timeout = newest.config.timeout_config
    return Plan(
        checkpoints=compile_graph(started),
        policies={checkpoint.key: _policy(_current(checkpoint, newest)) for checkpoint in started.checkpoints},
        revision=revision,
        auto_advance=newest.config.auto_advance,
        run_timeout=_seconds(timeout.timeout_minutes) if timeout.enabled else None,
        require_second_pass=newest.restart_policy.require_second_pass,
        max_restarts=newest.restart_policy.max_restarts,
        on_blocker=newest.recovery.on_external_blocker if newest.recovery else OnBlocker.ESCALATE,
    )


def _current(checkpoint: CheckpointDefinition, newest: PipelineDefinition) -> CheckpointDefinition:
    """The same checkpoint in the newest definition. It is found by id, because its key can change."""
    if checkpoint.checkpoint_id is not None and checkpoint.checkpoint_id in newest.by_id:
        return newest.by_id[checkpoint.checkpoint_id]
    return newest.by_key.get(checkpoint.key, checkpoint)


def _policy(checkpoint: CheckpointDefinition) -> CheckpointPolicy:
    execution, approvals, validation = checkpoint.execution, checkpoint.human_interaction, checkpoint.output.validation
    timeout = execution.timeout_config
    content = {key: value for key, value in checkpoint.document.items() if key not in _TIMES}
    return CheckpointPolicy(
        mode=execution.mode,
        requires_start_approval=approvals.requires_approval_to_start,
        requires_completion_approval=approvals.requires_approval_to_complete,
        max_auto_retries=execution.retry_config.max_auto_retries,
        retry_delay=float(execution.retry_config.retry_delay_seconds),
        on_failure=execution.retry_config.on_failure,
        timeout=_seconds(timeout.timeout_minutes) if timeout.enabled else None,
        on_timeout=timeout.on_timeout,
        max_revisions=approvals.max_revision_iterations,
        on_invalid=validation.on_validation_failure,
        max_validation_retries=validation.max_validation_retries,
        digest=digest(content),
    )


def _seconds(minutes: float | None) -> float | None:
    return None if minutes is None else minutes * 60.0
