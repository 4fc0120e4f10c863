"""The tables of the database, named after the nouns of the API."""

from cairn.store.tables.action_types import action_types
from cairn.store.tables.actions import (
    action_refusals,
    action_requirements,
    action_versions,
    action_votes,
    actions,
    approval_comments,
    corrections,
    gate_state,
    generations,
    journals,
    limit_uses,
    limit_windows,
)
from cairn.store.tables.content import artifacts, blob_chunks, blobs, execution_logs, uploads
from cairn.store.tables.conversations import messages, model_calls
from cairn.store.tables.definitions import checkpoint_definitions, definition_revisions, pipelines
from cairn.store.tables.events import chains, events
from cairn.store.tables.idempotency import idempotency_keys
from cairn.store.tables.identity import delegations, group_members, groups, invitations, user_identities, users
from cairn.store.tables.library import library_agents
from cairn.store.tables.lineage import artifact_consumption, job_dependencies
from cairn.store.tables.metadata import metadata
from cairn.store.tables.notifications import (
    channels,
    deliveries,
    delivery_attempts,
    notification_outbox,
    notification_preferences,
)
from cairn.store.tables.rollbacks import archived_items, rollback_events
from cairn.store.tables.rules import active_rules, audit_reviews, emergency_stops, rule_versions
from cairn.store.tables.runs import approval_decisions, approvals, checkpoint_executions, pipeline_runs
from cairn.store.tables.scripts import definition_scripts, execution_calls
from cairn.store.tables.secrets import secrets
from cairn.store.tables.settings import settings
from cairn.store.tables.sign_in import api_tokens, sessions
from cairn.store.tables.tools import offered_tools, tool_grants
from cairn.store.tables.triggers import HUMAN_INTERACTIONS
from cairn.store.tables.validations import summaries, validations
from cairn.store.tables.views import views

__all__ = [
    "HUMAN_INTERACTIONS",
    "action_refusals",
    "action_requirements",
    "action_types",
    "action_versions",
    "action_votes",
    "actions",
    "active_rules",
    "api_tokens",
    "approval_comments",
    "approval_decisions",
    "approvals",
    "archived_items",
    "artifact_consumption",
    "artifacts",
    "audit_reviews",
    "blob_chunks",
    "blobs",
    "chains",
    "channels",
    "checkpoint_definitions",
    "checkpoint_executions",
    "corrections",
    "definition_revisions",
    "definition_scripts",
    "delegations",
    "deliveries",
    "delivery_attempts",
    "emergency_stops",
    "events",
    "execution_calls",
    "execution_logs",
    "gate_state",
    "generations",
    "group_members",
    "groups",
    "idempotency_keys",
    "invitations",
    "job_dependencies",
    "journals",
    "library_agents",
    "limit_uses",
    "limit_windows",
    "messages",
    "metadata",
    "model_calls",
    "notification_outbox",
    "notification_preferences",
    "offered_tools",
    "pipeline_runs",
    "pipelines",
    "rollback_events",
    "rule_versions",
    "secrets",
    "sessions",
    "settings",
    "summaries",
    "tool_grants",
    "uploads",
    "user_identities",
    "users",
    "validations",
    "views",
]
