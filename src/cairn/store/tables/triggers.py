"""Triggers that keep the audit trail append-only and the ledger of actions complete, and the view of interactions."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy import event

from cairn.core.action_transitions import ACTION
from cairn.store.tables.metadata import metadata

_TRAIL = "the trail is append-only"
_LEDGER = "actions stay in the ledger"
_STATE = "the action cannot change to this state"
_FUNCTION = "$$ BEGIN RAISE EXCEPTION USING MESSAGE = TG_ARGV[0]; END $$"
_MOVES = ", ".join(
    f"'{state.value} {to.value}'" for state, row in ACTION.items() for to in dict.fromkeys(row.values()) if to != state
)
_WRONG_MOVE = f"OLD.state <> NEW.state AND OLD.state || ' ' || NEW.state NOT IN ({_MOVES})"
# Retention removes the parameters of a version, and nothing else of it changes.
_OTHER_VERSION = " OR ".join(
    ["NEW.parameters IS NOT NULL"]
    + [f'NEW."{name}" <> OLD."{name}"' for name in ("action_id", "version", "content_digest", "by", "at")]
)


def _triggers() -> Iterator[tuple[str, str, str, str, str]]:
    """Name, table, what is refused, in which rows, and the message."""
    yield "events_not_updated", "events", "UPDATE", "", _TRAIL
    yield "events_not_deleted", "events", "DELETE", "", _TRAIL
    yield "actions_not_deleted", "actions", "DELETE", "", _LEDGER
    yield "actions_not_moved", "actions", "UPDATE", _WRONG_MOVE, _STATE
    yield "action_versions_not_updated", "action_versions", "UPDATE", _OTHER_VERSION, _LEDGER
    yield "action_versions_not_deleted", "action_versions", "DELETE", "", _LEDGER
    yield "action_refusals_not_updated", "action_refusals", "UPDATE", "", _LEDGER
    yield "action_refusals_not_deleted", "action_refusals", "DELETE", "", _LEDGER


def _sqlite() -> Iterator[str]:
    for name, table, change, rows, message in _triggers():
        when = f"WHEN {rows} " if rows else ""
        yield f"CREATE TRIGGER {name} BEFORE {change} ON {table} {when}BEGIN SELECT RAISE(ABORT, '{message}'); END"


def _postgresql() -> Iterator[str]:
    yield f"CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS {_FUNCTION}"
    for name, table, change, rows, message in _triggers():
        each = f"FOR EACH ROW WHEN ({rows})" if rows else "FOR EACH STATEMENT"
        yield f"CREATE TRIGGER {name} BEFORE {change} ON {table} {each} EXECUTE FUNCTION refuse_change('{message}')"
    for table, message in dict.fromkeys((table, message) for _, table, _, rows, message in _triggers() if not rows):
        yield (
            f"CREATE TRIGGER {table}_not_truncated BEFORE TRUNCATE ON {table} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION refuse_change('{message}')"
        )


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


for _dialect, _statements in (("sqlite", _sqlite()), ("postgresql", _postgresql())):
    for _statement in _statements:
        event.listen(metadata, "after_create", sa.DDL(_statement).execute_if(dialect=_dialect))
event.listen(metadata, "after_create", sa.DDL(HUMAN_INTERACTIONS))
