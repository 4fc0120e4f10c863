"""Texts of rules by scope and revision, which of them are in force, and whether everything is stopped."""

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
    """Which revision of a scope's rules is in force."""

    scope: str
    revision: int = 0
    stopped: bool = False


# In no order: two rows are sorted more quickly than a database has made ready to sort them.
_HEADS_QUERY = sa.select(H.scope, H.revision, H.stopped).where(
    sa.or_(H.scope == sa.literal_column(f"'{GLOBAL}'"), H.scope == sa.bindparam("scope", type_=Text()))
)
_HEADS = PreparedQuery(_HEADS_QUERY)
_HEADS_HELD = PreparedQuery(_HEADS_QUERY.with_for_update(read=True))


def heads(connection: sa.Connection, scope: str, *, hold: bool = False) -> list[ActiveRuleVersion]:
    """What is in force for a pipeline: the global rules first, then its own, as far as there are any.

    With `hold` nobody saves rules or stops anything before this transaction ends: after a stop was answered, no
    automatic approval of somebody who had not seen it is committed.
    """
    rows = (_HEADS_HELD if hold else _HEADS).all(connection, {"scope": scope})
    found = [ActiveRuleVersion(row.scope, row.revision, row.stopped) for row in rows]
    return sorted(found, key=lambda head: head.scope != GLOBAL) if len(found) > 1 else found


def head(connection: sa.Connection, scope: str, *, lock: bool = False) -> ActiveRuleVersion:
    query = sa.select(H.scope, H.revision, H.stopped).where(H.scope == scope)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return ActiveRuleVersion(row.scope, row.revision, row.stopped) if row else ActiveRuleVersion(scope)


def all_heads(connection: sa.Connection) -> list[ActiveRuleVersion]:
    """Of every scope, the global one first."""
    query = sa.select(H.scope, H.revision, H.stopped).order_by(H.scope != GLOBAL, H.scope)
    return [ActiveRuleVersion(row.scope, row.revision, row.stopped) for row in connection.execute(query)]


def text(connection: sa.Connection, scope: str, revision: int) -> str | None:
    """As it was written; None if there is no such revision."""
    query = sa.select(V.text).where(V.scope == scope, V.revision == revision)
    return connection.execute(query).scalar_one_or_none()


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def save(
    connection: sa.Connection, was: ActiveRuleVersion, text: str, author: str, at: datetime, comment: str = ""
) -> ActiveRuleVersion:
    """The next revision of what `was` in force; LostRace if another one came between."""
    now = ActiveRuleVersion(was.scope, was.revision + 1, was.stopped)
    connection.execute(
        sa.insert(rule_versions).values(
            scope=now.scope,
            revision=now.revision,
            text=text,
            digest=digest_of(text),
            author=author,
            comment=comment,
            created_at=at,
        )
    )
    _put(connection, was, now)
    return now


def stop(
    connection: sa.Connection, was: ActiveRuleVersion, stopped: bool, reason: str, by: str, at: datetime
) -> ActiveRuleVersion:
    """Stop every automatic approval, or let them go on."""
    now = ActiveRuleVersion(was.scope, was.revision, stopped)
    number = connection.execute(sa.select(sa.func.coalesce(sa.func.max(S.number), 0))).scalar_one() + 1
    row = {"number": number, "stopped": stopped, "reason": reason, "by": by, "at": at}
    connection.execute(sa.insert(emergency_stops).values(row))
    _put(connection, was, now)
    return now


def explain_stop(connection: sa.Connection, reason: str) -> str | None:
    """Another reason for the stop that is on: the one before; None if it is the same."""
    last = connection.execute(sa.select(S.number, S.reason).order_by(S.number.desc()).limit(1)).one()
    if last.reason == reason:
        return None
    connection.execute(sa.update(emergency_stops).where(S.number == last.number).values(reason=reason))
    return last.reason


def _put(connection: sa.Connection, was: ActiveRuleVersion, now: ActiveRuleVersion) -> None:
    if was == ActiveRuleVersion(was.scope) and was.scope != GLOBAL:  # the global one has a row from the beginning
        connection.execute(sa.insert(active_rules).values(scope=now.scope, revision=now.revision, stopped=now.stopped))
        return
    changed = connection.execute(
        sa.update(active_rules)
        .where(H.scope == was.scope, H.revision == was.revision)
        .values(revision=now.revision, stopped=now.stopped)
    )
    if changed.rowcount != 1:
        raise LostRace("The rules have been changed by somebody else.")
