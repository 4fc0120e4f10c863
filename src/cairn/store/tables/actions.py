"""Proposed actions and their outcomes, corrections of actions, and comments on approvals."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.rule_verdict import RiskLevel
from cairn.store.column_types import one_of
from cairn.store.tables.metadata import double, index, integer, json, metadata, references, text, timestamp

OUTCOMES = ("proposed", "started", "done", "failed", "unknown", "returned", "test")

actions = sa.Table(
    "actions",
    metadata,
    text("approval_id", references("approvals.approval_id"), primary_key=True),
    text("execution_id", references("checkpoint_executions.execution_id")),
    integer("revision_iteration"),  # of the execution
    integer("call_number", null=True),  # of the proposer, within that revision
    text("operation_type"),
    json("parameters"),  # as proposed
    text("reasoning"),
    double("confidence", null=True),
    text("proposed_risk_level", null=True),  # by the proposer
    text("risk_level"),  # the higher of the proposed and the declared level
    json("risk_reasons"),
    json("supporting_data", null=True),
    text("outcome"),
    json("result", null=True),
    text("idempotency_key"),
    timestamp("proposed_at"),
    timestamp("started_at", null=True),
    timestamp("ended_at", null=True),
    text("summary", null=True),  # one line: what the action does, with its current parameters
    one_of("risk_level", RiskLevel),
    one_of("proposed_risk_level", RiskLevel),
    one_of("outcome", *OUTCOMES),
    index("ix_actions_of_execution", "execution_id"),
)

corrections = sa.Table(
    "corrections",
    metadata,
    text("case_id", primary_key=True),
    text("approval_id", references("approvals.approval_id")),
    text("pipeline_id", references("pipelines.pipeline_id")),
    text("operation_type"),
    json("original"),
    json("modified"),
    json("changes"),
    text("feedback"),
    text("by"),
    timestamp("at"),
    index("ix_corrections_of_operation", "operation_type", "at", "case_id"),
    index("ix_corrections_of_approval", "approval_id"),
)

approval_comments = sa.Table(
    "approval_comments",
    metadata,
    text("comment_id", primary_key=True),
    text("approval_id", references("approvals.approval_id")),
    text("by"),
    timestamp("at"),
    text("text"),
    index("ix_approval_comments_of", "approval_id", "at", "comment_id"),
)
