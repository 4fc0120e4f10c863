"""Triggers that keep the audit trail append-only, and the view of human interactions."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import event

from cairn.store.tables.events import events
from cairn.store.tables.metadata import metadata

_REFUSE = "BEGIN SELECT RAISE(ABORT, 'the trail is append-only'); END"
_FUNCTION = "$$ BEGIN RAISE EXCEPTION 'the trail is append-only'; END $$"
_EACH = "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"

APPEND_ONLY = {
    "sqlite": (
        f"CREATE TRIGGER events_not_updated BEFORE UPDATE ON events {_REFUSE}",
        f"CREATE TRIGGER events_not_deleted BEFORE DELETE ON events {_REFUSE}",
    ),
    "postgresql": (
        f"CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS {_FUNCTION}",
        f"CREATE TRIGGER events_not_updated BEFORE UPDATE ON events {_EACH}",
        f"CREATE TRIGGER events_not_deleted BEFORE DELETE ON events {_EACH}",
        f"CREATE TRIGGER events_not_truncated BEFORE TRUNCATE ON events {_EACH}",
    ),
}

HUMAN_INTERACTIONS = """CREATE VIEW human_interactions AS
SELECT
  d.decision_id AS interaction_id,
  a.execution_id AS execution_id,
  d.at AS timestamp,
  CASE
    WHEN d.decision = 'revise' THEN 'revision_request'
    WHEN a.kind = 'start' THEN 'approval_to_start'
    WHEN a.kind = 'completion' THEN 'approval_to_complete'
    WHEN a.kind = 'validation' THEN 'validation_feedback'
    WHEN a.kind = 'input' THEN coalesce(a.waiting_on, 'input')
    ELSE a.kind
  END AS type,
  d.feedback AS user_input,
  d.decision AS system_response,
  d.by AS actor,
  d.answer_checksum AS answer_checksum,
  a.approval_id AS approval_id
FROM approval_decisions d
JOIN approvals a ON a.approval_id = d.approval_id"""


for _dialect, _statements in APPEND_ONLY.items():
    for _statement in _statements:
        event.listen(events, "after_create", sa.DDL(_statement).execute_if(dialect=_dialect))
event.listen(metadata, "after_create", sa.DDL(HUMAN_INTERACTIONS))
