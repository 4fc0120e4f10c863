"""Runs, their executions, and the approvals that these ask for."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import (
    ApprovalKind,
    ApprovalStatus,
    ExecutionState,
    ExecutionStatus,
    PassDecision,
    RunStatus,
    WaitingOn,
)
from cairn.store.column_types import one_of
from cairn.store.tables.metadata import flag, index, json, metadata, moment, real, refers, text, whole

pipeline_runs = sa.Table(
    "pipeline_runs",
    metadata,
    text("run_id", primary_key=True),
    text("pipeline_id", refers("pipelines.pipeline_id")),
    whole("pipeline_definition_version"),
    whole("definition_revision"),  # of the graph that it started with
    whole("run_version", null=True),  # a test run has none
    flag("is_test"),
    text("status"),
    flag("pause_requested"),
    whole("pass_number"),
    whole("restart_count"),
    text("current_checkpoint_id", null=True),
    whole("current_checkpoint_position", null=True),
    whole("total_checkpoints"),
    whole("completed_checkpoints"),
    whole("failed_checkpoints"),
    text("previous_run_id", refers("pipeline_runs.run_id"), null=True),
    whole("extends_from_run_version", null=True),
    text("original_prompt"),
    text("input_checksum", refers("blobs.checksum"), null=True),
    text("created_by"),
    moment("created_at"),
    moment("started_at", null=True),
    moment("completed_at", null=True),
    moment("paused_at", null=True),
    moment("last_resumed_at", null=True),
    whole("reworks"),
    whole("created_count"),
    whole("timer_generation"),
    moment("active_since", null=True),
    real("active_seconds"),
    text("archived_by", null=True),  # rollback id
    json("rollbacks"),
    whole("revision"),  # counts the changes: who saves names the one that was loaded
    whole("event_seq"),
    text("event_head"),
    whole("synced_revision"),  # the revision up to which the files are known to be in order
    json("budget", null=True),  # its own; what it does not say is as the definition says
    text("over_budget", server_default=""),  # why it pauses, if the budget is the reason
    flag("budget_warned", server_default=sa.false()),
    sa.UniqueConstraint("pipeline_id", "pipeline_definition_version", "run_version"),
    one_of("status", RunStatus),
    index("ix_pipeline_runs_created", "created_at", "run_id"),
    index("ix_pipeline_runs_of_pipeline", "pipeline_id", "created_at", "run_id"),
    index("ix_pipeline_runs_input", "input_checksum", where="input_checksum IS NOT NULL"),
    index("ix_pipeline_runs_active", "active_since", where="active_since IS NOT NULL"),
    index("ix_pipeline_runs_open", "status", where="status IN ('not_started', 'in_progress', 'paused')"),
)

checkpoint_executions = sa.Table(
    "checkpoint_executions",
    metadata,
    text("execution_id", primary_key=True),
    text("run_id", refers("pipeline_runs.run_id")),
    text("checkpoint_id", refers("checkpoint_definitions.checkpoint_id")),
    text("key"),
    text("checkpoint_name"),
    text("folder"),  # fixed when it is made
    whole("checkpoint_position"),
    whole("pass_number"),
    whole("ordinal"),
    whole("definition_revision"),
    text("status"),  # what people see of its state
    text("state"),
    text("waiting_on", null=True),
    whole("dispatch_number"),
    text("driver", null=True),  # the job that drives it
    whole("attempt_number"),
    whole("max_attempts"),
    whole("revision_iteration"),
    whole("max_revision_iterations"),
    whole("retries_used"),
    whole("validations_used"),
    whole("interruptions"),
    flag("start_approved"),
    flag("answered"),
    text("answer_checksum", refers("blobs.checksum"), null=True),
    flag("manual_start"),
    flag("requires_new_approval"),
    text("digest", null=True),
    json("outputs"),
    text("pass_decision", null=True),
    flag("is_rework"),
    text("parent_execution_id", refers("checkpoint_executions.execution_id"), null=True),
    json("pending_rework", null=True),  # the rework that it asked for beyond the limit
    json("regression_context", null=True),  # why the work was sent back, and by whom
    text("archived_by", null=True),  # rollback id
    flag("has_workspace"),
    whole("error_count"),
    json("last_error", null=True),
    moment("last_error_at", null=True),
    text("context_checksum", refers("blobs.checksum"), null=True),
    json("progress", null=True),
    text("temp_workspace_path"),
    text("permanent_output_path"),
    moment("created_at", null=True),
    moment("started_at", null=True),
    moment("completed_at", null=True),
    moment("failed_at", null=True),
    moment("due_at", null=True),
    moment("active_since", null=True),
    real("active_seconds"),
    text("sandbox", null=True),  # the level that its last process was shut in at
    flag(
        "action_outcome_unknown", server_default=sa.false()
    ),  # whether an action of its own was carried out is not known
    sa.UniqueConstraint("run_id", "ordinal"),
    one_of("status", ExecutionStatus),
    one_of("state", ExecutionState),
    one_of("waiting_on", WaitingOn),
    one_of("pass_decision", PassDecision),
    index("ix_checkpoint_executions_answer", "answer_checksum", where="answer_checksum IS NOT NULL"),
    index("ix_checkpoint_executions_parent", "parent_execution_id", where="parent_execution_id IS NOT NULL"),
    index("ix_checkpoint_executions_context", "context_checksum", where="context_checksum IS NOT NULL"),
)

approvals = sa.Table(
    "approvals",
    metadata,
    text("approval_id", primary_key=True),
    text("run_id", refers("pipeline_runs.run_id")),
    text("execution_id", refers("checkpoint_executions.execution_id")),
    text("pipeline_id", refers("pipelines.pipeline_id")),
    whole("ordinal"),  # how many the run had asked before
    text("kind"),
    text("waiting_on", null=True),  # of its execution when it was asked
    text("status"),
    text("digest"),
    whole("required_approvals"),
    whole("period"),
    moment("requested_at"),
    moment("expires_at", null=True),
    moment("closed_at", null=True),
    text("reason"),
    whole("attempt_number"),  # of its execution when it was asked
    text("reused_from", refers("approvals.approval_id"), null=True),  # the one of equal content that it repeats
    json("terms", null=True),  # under which people are asked
    json("assigned_to", null=True),  # who may decide now; null: whoever may decide at all
    whole("reminded_period", server_default="0"),
    flag("escalated", server_default=sa.false()),
    text("rule", null=True),  # the one that asks, or has approved, and so are the next three
    text("rule_scope", null=True),  # global, or the pipeline's id
    whole("rules_revision", null=True),
    json("evaluated_rules", null=True),  # every rule that was looked at, and why
    whole("priority", server_default="100"),
    flag("audit", server_default=sa.false()),  # people look at this automatic approval afterwards
    text("operation_type", null=True),  # of a proposed action, and so are the next three
    text("risk_level", null=True),
    whole("risk_order", server_default="4"),  # the riskiest first
    real("confidence", null=True),
    sa.UniqueConstraint("run_id", "ordinal"),
    one_of("kind", ApprovalKind),
    one_of("waiting_on", WaitingOn),
    one_of("status", ApprovalStatus),
    one_of("risk_level", RiskLevel),
    index("ix_approvals_of_execution", "execution_id"),
    index("ix_approvals_by_risk", "risk_order", "requested_at", "approval_id", where="status = 'pending'"),
    index("ix_approvals_by_priority", "priority", "requested_at", "approval_id", where="status = 'pending'"),
    index("ix_approvals_by_rule", "rule_scope", "rule", "requested_at", where="rule IS NOT NULL"),
    index("ix_approvals_sampled", "requested_at", "approval_id", where="audit"),
    index("ix_approvals_by_operation", "operation_type", "requested_at", where="operation_type IS NOT NULL"),
    index("ix_approvals_requested", "requested_at", "approval_id"),
    index("ix_approvals_pending", "requested_at", "approval_id", where="status = 'pending'"),
    index("ix_approvals_due", "expires_at", "requested_at", "approval_id", where="status = 'pending'"),
    index("ix_approvals_waiting", "pipeline_id", "run_id", where="status = 'pending'"),
)

approval_decisions = sa.Table(
    "approval_decisions",
    metadata,
    text("decision_id", primary_key=True),
    text("approval_id", refers("approvals.approval_id")),
    whole("position"),
    text("by"),
    moment("at"),
    text("decision"),
    text("feedback"),
    text("digest"),  # of what was shown
    text("answer_checksum", refers("blobs.checksum"), null=True),
    sa.UniqueConstraint("approval_id", "position"),
    index("ix_approval_decisions_answer", "answer_checksum", where="answer_checksum IS NOT NULL"),
)
