"""Rule texts by scope and revision, the active revisions, and the emergency stop."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from cairn.core.rules import GLOBAL
from cairn.store.column_types import Text
from cairn.store.errors import LostRace
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.tables import active_rules, emergency_stops, rule_versions

H, V, S = active_rules.c, rule_versions.c, emergency_stops.c


@dataclass(frozen=True, slots=True)
class ActiveRuleVersion:
    """The active revision of a scope's rules."""

    scope: str
    revision: int = 0
    stopped: bool = False


# Not ordered, because sorting two rows is faster in Python than in the database.
_ACTIVE_VERSIONS_QUERY = sa.select(H.scope, H.revision, H.stopped).where(
    sa.or_(H.scope == sa.literal_column(f"'{GLOBAL}'"), H.scope == sa.bindparam("scope", type_=Text()))
)
_ACTIVE_VERSIONS = PreparedQuery(_ACTIVE_VERSIONS_QUERY)
_ACTIVE_VERSIONS_LOCKED = PreparedQuery(_ACTIVE_VERSIONS_QUERY.with_for_update(read=True))


def active_versions(connection: sa.Connection, scope: str, *, lock: bool = False) -> list[ActiveRuleVersion]:
    """Return the active rules for a pipeline: the global ones first, then its own, if any.

    With `lock`, the rows can't be changed until the transaction ends. This ensures that no automatic approval is
    committed after an emergency stop has been confirmed.
    """
    rows = (_ACTIVE_VERSIONS_LOCKED if lock else _ACTIVE_VERSIONS).all(connection, {"scope": scope})
    versions = [ActiveRuleVersion(row.scope, row.revision, row.stopped) for row in rows]
    return sorted(versions, key=lambda version: version.scope != GLOBAL) if len(versions) > 1 else versions


def active_version(connection: sa.Connection, scope: str, *, lock: bool = False) -> ActiveRuleVersion:
    query = sa.select(H.scope, H.revision, H.stopped).where(H.scope == scope)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return ActiveRuleVersion(row.scope, row.revision, row.stopped) if row else ActiveRuleVersion(scope)


def all_active_versions(connection: sa.Connection) -> list[ActiveRuleVersion]:
    """Return the active rules of every scope, the global one first."""
    query = sa.select(H.scope, H.revision, H.stopped).order_by(H.scope != GLOBAL, H.scope)
    return [ActiveRuleVersion(row.scope, row.revision, row.stopped) for row in connection.execute(query)]


def text(connection: sa.Connection, scope: str, revision: int) -> str | None:
    """Return the text as its author wrote it; None if there is no such revision."""
    query = sa.select(V.text).where(V.scope == scope, V.revision == revision)
    return connection.execute(query).scalar_one_or_none()


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def save(
    connection: sa.Connection, current: ActiveRuleVersion, text: str, author: str, at: datetime, comment: str = ""
) -> ActiveRuleVersion:
    """Save and activate the next revision. Raise LostRace if `current` is no longer active."""
    updated = ActiveRuleVersion(current.scope, current.revision + 1, current.stopped)
    connection.execute(
        sa.insert(rule_versions).values(
            scope=updated.scope,
            revision=updated.revision,
            text=text,
            digest=digest_of(text),
            created_by=author,
            comment=comment,
            created_at=at,
        )
    )
    _activate(connection, current, updated)
    return updated


def stop(
    connection: sa.Connection, current: ActiveRuleVersion, stopped: bool, reason: str, by: str, at: datetime
) -> ActiveRuleVersion:
    """Start or lift the emergency stop."""
    updated = ActiveRuleVersion(current.scope, current.revision, stopped)
    number = connection.execute(sa.select(sa.func.coalesce(sa.func.max(S.number), 0))).scalar_one() + 1
    row = {"number": number, "stopped": stopped, "reason": reason, "by": by, "at": at}
    connection.execute(sa.insert(emergency_stops).values(row))
    _activate(connection, current, updated)
    return updated


def update_stop_reason(connection: sa.Connection, reason: str) -> str | None:
    """Change the reason of the current stop and return the previous one; None if nothing changed."""
    last = connection.execute(sa.select(S.number, S.reason).order_by(S.number.desc()).limit(1)).one()
    if last.reason == reason:
        return None
    connection.execute(sa.update(emergency_stops).where(S.number == last.number).values(reason=reason))
    return last.reason


def _activate(connection: sa.Connection, current: ActiveRuleVersion, updated: ActiveRuleVersion) -> None:
    if current == ActiveRuleVersion(current.scope) and current.scope != GLOBAL:  # the global scope always has a row
        connection.execute(
            sa.insert(active_rules).values(scope=updated.scope, revision=updated.revision, stopped=updated.stopped)
        )
        return
    changed = connection.execute(
        sa.update(active_rules)
        .where(H.scope == current.scope, H.revision == current.revision)
        .values(revision=updated.revision, stopped=updated.stopped)
    )
    if changed.rowcount != 1:
        raise LostRace("The rules were changed by another user.")
