"""Runs, their executions and approvals."""

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
from cairn.store.tables.metadata import double, flag, index, integer, json, metadata, references, text, timestamp

pipeline_runs = sa.Table(
    "pipeline_runs",
    metadata,
    text("run_id", primary_key=True),
    text("pipeline_id", references("pipelines.pipeline_id")),
    integer("pipeline_definition_version"),
    integer("definition_revision"),  # of the graph that the run started with
    integer("run_version", null=True),  # a test run has none
    flag("is_test"),
    text("status"),
    flag("pause_requested"),
    integer("pass_number"),
    integer("restart_count"),
    text("current_checkpoint_id", null=True),
    integer("current_checkpoint_position", null=True),
    integer("total_checkpoints"),
    integer("completed_checkpoints"),
    integer("failed_checkpoints"),
    text("origin_run_id"),  # the first of the runs that retry each other
    text("previous_run_id", references("pipeline_runs.run_id"), null=True),
    integer("extends_from_run_version", null=True),
    text("original_prompt"),
    text("input_checksum", references("blobs.checksum"), null=True),
    text("created_by"),
    timestamp("created_at"),
    timestamp("started_at", null=True),
    timestamp("completed_at", null=True),
    timestamp("paused_at", null=True),
    timestamp("last_resumed_at", null=True),
    integer("reworks"),
    integer("created_count"),
    integer("timer_generation"),
    timestamp("active_since", null=True),
    double("active_seconds"),
    text("archived_by", null=True),  # rollback id
    json("rollbacks"),
    integer("revision"),  # incremented by each change: optimistic locking
    integer("event_seq"),
    text("event_head"),
    integer("synced_revision"),  # the revision up to which the files are synced
    json("budget", null=True),  # overrides the limits of the definition
    text("over_budget", server_default=""),  # why the run paused, if because of its budget
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
    text("run_id", references("pipeline_runs.run_id")),
    text("checkpoint_id", references("checkpoint_definitions.checkpoint_id")),
    text("key"),
    text("checkpoint_name"),
    text("folder"),  # fixed at creation
    integer("checkpoint_position"),
    integer("pass_number"),
    integer("ordinal"),
    integer("definition_revision"),
    text("status"),  # the public view of `state`
    text("state"),
    text("waiting_on", null=True),
    integer("dispatch_number"),
    text("driver", null=True),  # id of the job that drives it
    integer("attempt_number"),
    integer("max_attempts"),
    integer("revision_iteration"),
    integer("max_revision_iterations"),
    integer("retries_used"),
    integer("validations_used"),
    integer("interruptions"),
    flag("start_approved"),
    flag("answered"),
    text("answer_checksum", references("blobs.checksum"), null=True),
    flag("manual_start"),
    flag("requires_new_approval"),
    text("digest", null=True),
    json("outputs"),
    text("pass_decision", null=True),
    flag("is_rework"),
    text("parent_execution_id", references("checkpoint_executions.execution_id"), null=True),
    json("pending_rework", null=True),  # a rework request beyond the limit
    json("regression_context", null=True),  # why the work was sent back, and by whom
    text("archived_by", null=True),  # rollback id
    flag("has_workspace"),
    integer("error_count"),
    json("last_error", null=True),
    timestamp("last_error_at", null=True),
    text("context_checksum", references("blobs.checksum"), null=True),
    json("progress", null=True),
    text("temp_workspace_path"),
    text("permanent_output_path"),
    timestamp("created_at", null=True),
    timestamp("started_at", null=True),
    timestamp("completed_at", null=True),
    timestamp("failed_at", null=True),
    timestamp("due_at", null=True),
    timestamp("active_since", null=True),
    double("active_seconds"),
    text("sandbox", null=True),  # sandbox level of its last process
    flag("has_actions", server_default=sa.false()),  # it has proposed an action
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
    text("run_id", references("pipeline_runs.run_id")),
    text("execution_id", references("checkpoint_executions.execution_id")),
    text("pipeline_id", references("pipelines.pipeline_id")),
    integer("ordinal"),  # number of earlier approvals in the run
    text("kind"),
    text("waiting_on", null=True),  # of the execution when requested
    text("status"),
    text("digest"),
    integer("required_approvals"),
    integer("period"),
    timestamp("requested_at"),
    timestamp("expires_at", null=True),
    timestamp("closed_at", null=True),
    text("reason"),
    integer("attempt_number"),  # of the execution when requested
    text("action_id", null=True),  # that is to be approved, or whose outcome is unknown
    text("reused_from", references("approvals.approval_id"), null=True),  # an earlier approval of the same content
    json("terms", null=True),  # that differ from the defaults
    json("assigned_to", null=True),  # who can decide now; null: any approver
    integer("reminded_period", server_default="0"),
    flag("escalated", server_default=sa.false()),
    text("rule", null=True),  # that requires approval or has approved; the next three belong to it
    text("rule_scope", null=True),  # `global` or a pipeline id
    integer("rules_revision", null=True),
    json("evaluated_rules", null=True),  # every rule that was evaluated, with the result of its conditions
    integer("priority", server_default="100"),
    flag("audit", server_default=sa.false()),  # an automatic approval that was sampled for review
    text("operation_type", null=True),  # of a proposed action, like the next three
    text("risk_level", null=True),
    integer("risk_order", server_default="4"),  # sorts the highest risk first
    double("confidence", null=True),
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
    text("approval_id", references("approvals.approval_id")),
    integer("position"),
    text("by"),
    timestamp("at"),
    text("decision"),
    text("feedback"),
    text("digest"),  # of what was shown
    text("answer_checksum", references("blobs.checksum"), null=True),
    sa.UniqueConstraint("approval_id", "position"),
    index("ix_approval_decisions_answer", "answer_checksum", where="answer_checksum IS NOT NULL"),
)
