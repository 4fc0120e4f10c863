"""Actions that were proposed and what came of them, what people corrected, and what they said about it."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.rule_verdict import RiskLevel
from cairn.store.column_types import one_of
from cairn.store.tables.metadata import index, json, metadata, moment, real, refers, text, whole

OUTCOMES = ("proposed", "started", "done", "failed", "unknown", "returned", "test")

actions = sa.Table(
    "actions",
    metadata,
    text("approval_id", refers("approvals.approval_id"), primary_key=True),
    text("execution_id", refers("checkpoint_executions.execution_id")),
    whole("revision_iteration"),  # of its execution
    whole("call_number", null=True),  # of whoever proposed it, in that revision
    text("operation_type"),
    json("parameters"),  # as proposed
    text("reasoning"),
    real("confidence", null=True),
    text("proposed_risk_level", null=True),  # by the proposer
    text("risk_level"),  # the higher of that and the declared one
    json("risk_reasons"),
    json("supporting_data", null=True),
    text("outcome"),
    json("result", null=True),
    text("idempotency_key"),
    moment("proposed_at"),
    moment("started_at", null=True),
    moment("ended_at", null=True),
    text("summary", null=True),  # what it does as it stands, in one line; rows from before 0019 have none
    one_of("risk_level", RiskLevel),
    one_of("proposed_risk_level", RiskLevel),
    one_of("outcome", *OUTCOMES),
    index("ix_actions_of_execution", "execution_id"),
)

corrections = sa.Table(
    "corrections",
    metadata,
    text("case_id", primary_key=True),
    text("approval_id", refers("approvals.approval_id")),
    text("pipeline_id", refers("pipelines.pipeline_id")),
    text("operation_type"),
    json("original"),
    json("modified"),
    json("changes"),
    text("feedback"),
    text("by"),
    moment("at"),
    index("ix_corrections_of_operation", "operation_type", "at", "case_id"),
    index("ix_corrections_of_approval", "approval_id"),
)

approval_comments = sa.Table(
    "approval_comments",
    metadata,
    text("comment_id", primary_key=True),
    text("approval_id", refers("approvals.approval_id")),
    text("by"),
    moment("at"),
    text("text"),
    index("ix_approval_comments_of", "approval_id", "at", "comment_id"),
)
