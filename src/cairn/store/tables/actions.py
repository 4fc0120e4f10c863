"""The ledger of actions, with their versions, votes, refusals and limits; corrections, and comments on approvals."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect, ActionState
from cairn.store.column_types import one_of
from cairn.store.tables.metadata import double, flag, index, integer, json, metadata, references, text, timestamp

EXECUTED_ONCE = sa.text("state IN ('approved', 'started', 'handed_over', 'done', 'unknown') AND effect = 'changes'")

# The ledger refers to runs, executions and approvals without foreign keys, because it outlives them.
actions = sa.Table(
    "actions",
    metadata,
    text("action_id", primary_key=True),
    text("family_id"),  # the first of the runs that continue each other
    text("run_id"),
    text("pipeline_id"),
    text("checkpoint_id"),
    text("item"),
    integer("generation"),  # how often the work at this place was repeated before
    text("execution_id"),
    text("approval_id", null=True),  # the last one
    text("operation"),
    text("effect"),
    text("risk_level"),  # the higher of the proposed and the declared level
    text("identity"),  # keyed digest of the parameters that make two actions the same
    text("call_digest"),
    text("content_digest"),
    integer("version"),  # of the content
    text("state"),
    text("reason"),
    integer("occurrence", null=True),
    text("approved_by"),  # people, default or rule:ID
    timestamp("approved_until", null=True),
    flag("modified"),
    flag("untrusted"),
    flag("is_handed_over"),
    flag("is_idempotent"),
    flag("by_script"),
    flag("was_unknown"),
    flag("settled"),
    flag("resend_permitted"),
    flag("answered"),
    integer("sends"),
    integer("start_seq", null=True),
    text("journal_id", null=True),
    text("owner"),  # the server process that started it
    text("reused_of", null=True),
    text("reported_by"),
    text("currency", null=True),  # of its amount
    text("summary"),  # one line: what the action does, with its current parameters
    json("parameters", null=True),  # as proposed; retention removes this and the next columns
    json("content", null=True),  # the resolved request
    json("facts", null=True),  # computed from it, for rules
    json("result", null=True),
    json("sources", null=True),  # what entered the context of the proposal
    text("reasoning"),
    double("confidence", null=True),
    text("proposed_risk_level", null=True),  # by the proposer
    json("risk_reasons"),
    json("supporting_data", null=True),
    timestamp("proposed_at"),
    timestamp("started_at", null=True),
    timestamp("ended_at", null=True),
    one_of("effect", ActionEffect),
    one_of("state", ActionState),
    one_of("risk_level", RiskLevel),
    one_of("proposed_risk_level", RiskLevel),
    sa.UniqueConstraint("journal_id", "start_seq"),
    index("ix_actions_of_family", "family_id", "operation"),
    index("ix_actions_of_execution", "execution_id"),
    index("ix_actions_of_run", "run_id", "proposed_at", "action_id"),
    index("ix_actions_of_approval", "approval_id"),
    index("ix_actions_proposed", "proposed_at", "action_id"),
    index(
        "ix_actions_open",
        "state",
        where="state IN ('proposed', 'waiting', 'approved', 'started', 'handed_over', 'unknown')",
    ),
    sa.Index(
        "uq_actions_executed_once",
        "family_id",
        "operation",
        "identity",
        "occurrence",
        unique=True,
        sqlite_where=EXECUTED_ONCE,
        postgresql_where=EXECUTED_ONCE,
    ),
)

action_versions = sa.Table(
    "action_versions",
    metadata,
    text("action_id", references("actions.action_id"), primary_key=True),
    integer("version", primary_key=True, autoincrement=False),
    json("parameters", null=True),
    text("content_digest"),
    text("by"),  # the proposer or the person who modified it
    timestamp("at"),
)

action_requirements = sa.Table(
    "action_requirements",
    metadata,
    text("action_id", references("actions.action_id"), primary_key=True),
    integer("position", primary_key=True, autoincrement=False),
    text("rule_id"),
    json("base"),  # as the rule defined it
    json("current"),  # after hand-overs and escalations
)

action_votes = sa.Table(
    "action_votes",
    metadata,
    text("action_id", references("actions.action_id"), primary_key=True),
    text("actor", primary_key=True),
    integer("position"),  # in the order of voting
    integer("version"),
    json("capacities"),
    text("choice"),
    text("on_repeat", null=True),
    text("shown_digest"),
    timestamp("at"),
)

action_refusals = sa.Table(
    "action_refusals",
    metadata,
    text("refusal_id", primary_key=True),
    text("family_id"),
    text("operation"),
    text("checkpoint_id"),
    text("item"),
    text("identity"),
    text("kind"),
    text("by"),
    timestamp("at"),
    one_of("kind", "reject", "revise", "revoke", "modify"),
    index("ix_action_refusals_of_family", "family_id", "operation"),
)

generations = sa.Table(
    "generations",
    metadata,
    text("family_id", primary_key=True),
    text("checkpoint_id", primary_key=True),
    text("item", primary_key=True),
    integer("value"),
    timestamp("refusals_cleared_at", null=True),  # a person retried the work
)

limit_windows = sa.Table(
    "limit_windows",
    metadata,
    text("rule_id", primary_key=True),
    text("window_key", primary_key=True),
    integer("approvals"),
    text("total"),  # decimal
    text("currency", null=True),
)

limit_uses = sa.Table(
    "limit_uses",
    metadata,
    text("action_id", references("actions.action_id"), primary_key=True),
    text("rule_id"),
    text("window_key"),
    text("amount", null=True),  # decimal
    text("currency", null=True),
    index("ix_limit_uses_of_window", "rule_id", "window_key"),
)

gate_state = sa.Table(
    "gate_state",
    metadata,
    integer("id", primary_key=True, autoincrement=False),  # one row: 1
    text("stop"),  # approvals, actions or empty
    flag("held"),
    text("reason"),
    timestamp("changed_at", null=True),
    text("changed_by"),
    one_of("stop", "", "approvals", "actions"),
)

journals = sa.Table("journals", metadata, text("journal_id", primary_key=True), integer("last_seq"))

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
