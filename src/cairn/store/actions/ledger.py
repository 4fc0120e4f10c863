"""Load and save actions. The caller holds the lock of the family."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from cairn.core.action import Action, History, Place, Refusal
from cairn.core.states import EXECUTED, NOT_STARTED, ActionEffect, ActionState, ApprovalStatus
from cairn.store import tables as t
from cairn.store.actions import limits
from cairn.store.actions.action_rows import (
    ACTION_COLUMNS,
    action_of,
    action_values,
    limit_use_of,
    refusal_of,
    requirement_of,
    requirement_values,
    vote_of,
    vote_values,
)
from cairn.store.errors import LostRace, NotFound

A, G = t.actions.c, t.generations.c


def lock_family(connection: sa.Connection, family: str) -> None:
    """Let no other transaction read the history of a family until this one ends. SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(f"actions/{family}", 0))))


# Reading
def load_action(connection: sa.Connection, action_id: str) -> Action:
    action = find_action(connection, action_id)
    if action is None:
        raise NotFound("action", action_id)
    return action


def find_action(connection: sa.Connection, action_id: str) -> Action | None:
    return next(iter(load_actions(connection, A.action_id == action_id)), None)


def load_actions(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[Action]:
    """Actions in the order in which they were proposed, with their votes, requirements and limit uses."""
    rows = _rows(connection, *conditions)
    ids = [row.action_id for row in rows]
    votes = _by_action(connection, t.action_votes, ids, t.action_votes.c.position)
    requirements = _by_action(connection, t.action_requirements, ids, t.action_requirements.c.position)
    uses = _by_action(connection, t.limit_uses, ids, t.limit_uses.c.action_id)
    return [
        action_of(
            row,
            map(vote_of, votes.get(row.action_id, ())),
            map(requirement_of, requirements.get(row.action_id, ())),
            next(map(limit_use_of, uses.get(row.action_id, ())), None),
        )
        for row in rows
    ]


def _rows(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> Sequence[sa.Row[Any]]:
    """The columns that the state machine uses, without the contents."""
    columns = (t.actions.c[name] for name in ACTION_COLUMNS)
    return connection.execute(sa.select(*columns).where(*conditions).order_by(A.proposed_at, A.action_id)).all()


def _by_action(
    connection: sa.Connection, table: sa.Table, ids: Collection[str], order: sa.ColumnElement[Any]
) -> Mapping[str, Sequence[Any]]:
    if not ids:
        return {}
    found: dict[str, list[Any]] = {}
    for row in connection.execute(sa.select(table).where(table.c.action_id.in_(ids)).order_by(order)):
        found.setdefault(row.action_id, []).append(row)
    return found


def content_of(connection: sa.Connection, action_id: str) -> Mapping[str, Any]:
    """The resolved request. Empty if retention has removed it."""
    return connection.execute(sa.select(A.content).where(A.action_id == action_id)).scalar() or {}


def details_of(connection: sa.Connection, action_id: str) -> sa.Row[Any]:
    return connection.execute(sa.select(t.actions).where(A.action_id == action_id)).one()


def approval_of(connection: sa.Connection, action_id: str) -> str | None:
    return connection.execute(sa.select(A.approval_id).where(A.action_id == action_id)).scalar()


def action_of_approval(connection: sa.Connection, approval_id: str) -> str | None:
    """The id of the action that an approval is about."""
    p = t.approvals.c
    return connection.execute(sa.select(p.action_id).where(p.approval_id == approval_id)).scalar()


def set_approval(connection: sa.Connection, action_id: str, approval_id: str) -> None:
    connection.execute(sa.update(t.actions).where(A.action_id == action_id).values(approval_id=approval_id))


def load_history(connection: sa.Connection, action: Action, revision: int) -> History:
    """The other actions of the operation in the family, without their votes, and people's refusals.

    `revision` is that of the execution: its recorded calls say which outcomes it was given again.
    """
    family, operation = action.place.family, action.operation
    others = map(
        action_of, _rows(connection, A.family_id == family, A.operation == operation, A.action_id != action.id)
    )
    r = t.action_refusals.c
    refusals = connection.execute(
        sa.select(t.action_refusals).where(r.family_id == family, r.operation == operation).order_by(r.at)
    )
    replayed = actions_of_calls(connection, action.execution, revision)
    return History(tuple(others), tuple(map(refusal_of, refusals)), replayed)


def actions_of_calls(connection: sa.Connection, execution_id: str, revision: int) -> frozenset[str]:
    """The actions that the recorded calls of an execution proposed, or whose outcomes they were given again."""
    c = t.execution_calls.c
    query = sa.select(c.action_id).where(
        c.execution_id == execution_id, c.revision_iteration == revision, c.action_id.is_not(None)
    )
    return frozenset(connection.execute(query).scalars())


def actions_of_execution(connection: sa.Connection, execution_id: str) -> list[Action]:
    return load_actions(connection, A.execution_id == execution_id)


def held_actions(connection: sa.Connection) -> list[Action]:
    """Actions that may wait for a stop, a hold or another action to end, and those that people are not asked about."""
    states = [ActionState.PROPOSED.value, ActionState.APPROVED.value]
    is_unsettled = sa.and_(A.state == ActionState.UNKNOWN.value, A.settled.is_(False))
    p = t.approvals.c
    is_asked = sa.exists().where(p.action_id == A.action_id, p.status == ApprovalStatus.PENDING.value)
    is_forgotten = sa.and_(A.state == ActionState.WAITING.value, ~is_asked)  # in a restored database
    return load_actions(connection, sa.or_(A.state.in_(states), is_unsettled, is_forgotten))


def held_in_family(connection: sa.Connection, ended: Action) -> list[Action]:
    """Actions of the same operation and family that may have waited for this one."""
    states = [ActionState.PROPOSED.value, ActionState.APPROVED.value]
    return load_actions(
        connection,
        A.family_id == ended.place.family,
        A.operation == ended.operation,
        A.state.in_(states),
        A.action_id != ended.id,
    )


def approved_here(connection: sa.Connection, place: Place, operation: str) -> list[Action]:
    """Approved actions of an operation at a place."""
    return load_actions(
        connection,
        A.family_id == place.family,
        A.checkpoint_id == place.checkpoint,
        A.item == place.item,
        A.operation == operation,
        A.state == ActionState.APPROVED.value,
    )


def same_occurrence(
    connection: sa.Connection, family: str, operation: str, identity: str, occurrence: int | None
) -> list[Action]:
    """The actions that have this occurrence. At most one of those that change something."""
    states = [state.value for state in EXECUTED | {ActionState.APPROVED}]
    return load_actions(
        connection,
        A.family_id == family,
        A.operation == operation,
        A.identity == identity,
        A.occurrence == occurrence,
        A.effect == ActionEffect.CHANGES.value,
        A.state.in_(states),
    )


def unfinished_actions(connection: sa.Connection) -> list[Action]:
    """Actions that were being sent, by this or another process."""
    return load_actions(connection, A.state == ActionState.STARTED.value)


def action_of_call(connection: sa.Connection, execution_id: str, revision: int, number: int) -> str | None:
    c = t.execution_calls.c
    query = sa.select(c.action_id).where(
        c.execution_id == execution_id, c.revision_iteration == revision, c.number == number
    )
    return connection.execute(query).scalar()


def executed_of(connection: sa.Connection, execution_ids: Collection[str]) -> tuple[str, ...]:
    """Actions of these executions that were executed, or may have been."""
    return _ids_of(connection, execution_ids, EXECUTED)


def open_of(connection: sa.Connection, execution_ids: Collection[str]) -> tuple[str, ...]:
    """Actions of these executions that have not started."""
    return _ids_of(connection, execution_ids, NOT_STARTED)


def _ids_of(
    connection: sa.Connection, execution_ids: Collection[str], states: Collection[ActionState]
) -> tuple[str, ...]:
    query = sa.select(A.action_id).where(
        A.execution_id.in_(list(execution_ids)), A.state.in_([state.value for state in states])
    )
    return tuple(connection.execute(query.order_by(A.proposed_at, A.action_id)).scalars())


def has_actions(connection: sa.Connection, family: str) -> bool:
    return connection.execute(sa.select(A.action_id).where(A.family_id == family).limit(1)).first() is not None


# Writing
def insert_action(connection: sa.Connection, action: Action, details: Mapping[str, Any]) -> None:
    """`details`: the columns that the state machine does not use."""
    connection.execute(sa.insert(t.actions).values(**action_values(action), **details))
    _save_parts(connection, None, action)


def save_action(connection: sa.Connection, before: Action, after: Action, **details: Any) -> Action:
    """Save what has changed. `details`: columns that the state machine does not use."""
    old, new = action_values(before), action_values(after)
    changes = {name: value for name, value in new.items() if value != old[name]} | details
    if changes:
        same = (A.action_id == before.id, A.state == before.state.value, A.version == before.version)
        if connection.execute(sa.update(t.actions).where(*same).values(changes)).rowcount != 1:
            raise LostRace("The action was changed by another transaction.")
    _save_parts(connection, before, after)
    return after


def _save_parts(connection: sa.Connection, before: Action | None, after: Action) -> None:
    if before is None or before.votes != after.votes:
        v = t.action_votes
        connection.execute(sa.delete(v).where(v.c.action_id == after.id))
        rows = [vote_values(after.id, position, vote) for position, vote in enumerate(after.votes)]
        if rows:
            connection.execute(sa.insert(v), rows)
    if before is None or before.requirements != after.requirements:
        r = t.action_requirements
        connection.execute(sa.delete(r).where(r.c.action_id == after.id))
        rows = [requirement_values(after.id, position, part) for position, part in enumerate(after.requirements)]
        if rows:
            connection.execute(sa.insert(r), rows)
    if (before.limit_use if before else None) != after.limit_use:
        limits.replace_use(connection, after.id, before.limit_use if before else None, after.limit_use)


def insert_version(connection: sa.Connection, action: Action, parameters: Any, by: str, at: Any) -> None:
    """Record a version of the parameters. Versions are never changed."""
    connection.execute(
        sa.insert(t.action_versions).values(
            action_id=action.id,
            version=action.version,
            parameters=parameters,
            content_digest=action.content_digest,
            by=by,
            at=at,
        )
    )


def insert_refusal(connection: sa.Connection, refusal: Refusal, refusal_id: str | None = None) -> str:
    refusal_id = refusal_id or str(uuid4())
    connection.execute(
        sa.insert(t.action_refusals).values(
            refusal_id=refusal_id,
            family_id=refusal.place.family,
            checkpoint_id=refusal.place.checkpoint,
            item=refusal.place.item,
            operation=refusal.operation,
            identity=refusal.identity,
            kind=refusal.kind,
            by=refusal.by,
            at=refusal.at,
        )
    )
    return refusal_id


def has_refusal(connection: sa.Connection, refusal_id: str) -> bool:
    r = t.action_refusals.c
    return connection.execute(sa.select(r.refusal_id).where(r.refusal_id == refusal_id)).first() is not None


def refusals_here(connection: sa.Connection, place: Place, operation: str) -> int:
    """How often people refused an operation at a place since a person last retried the work."""
    r = t.action_refusals.c
    at_place = (r.family_id == place.family, r.checkpoint_id == place.checkpoint, r.item == place.item)
    cleared = connection.execute(sa.select(G.refusals_cleared_at).where(*_is_place(place))).scalar()
    query = sa.select(sa.func.count()).where(*at_place, r.operation == operation, r.kind != "modify")
    return connection.execute(query if cleared is None else query.where(r.at > cleared)).scalar_one()


def waiting_counts(connection: sa.Connection, action: Action) -> tuple[int, int]:
    """How many actions wait for people at the place of the action, and in its run."""
    place = action.place
    is_here = sa.and_(A.family_id == place.family, A.checkpoint_id == place.checkpoint, A.item == place.item)
    query = sa.select(sa.func.count().filter(is_here), sa.func.count()).where(
        A.run_id == action.run, A.state == ActionState.WAITING.value
    )
    here, in_run = connection.execute(query).one()
    return here, in_run


# Generations
def _is_place(place: Place) -> tuple[sa.ColumnElement[bool], ...]:
    return G.family_id == place.family, G.checkpoint_id == place.checkpoint, G.item == place.item


def generation(connection: sa.Connection, place: Place) -> int:
    """How often the work at a place has been repeated."""
    return connection.execute(sa.select(G.value).where(*_is_place(place))).scalar() or 0


def raise_generation(connection: sa.Connection, place: Place, at_least: int = 0) -> int:
    """Start the next generation of a place."""
    value = max(generation(connection, place) + 1, at_least)
    if connection.execute(sa.update(t.generations).where(*_is_place(place)).values(value=value)).rowcount == 0:
        row = {"family_id": place.family, "checkpoint_id": place.checkpoint, "item": place.item, "value": value}
        connection.execute(sa.insert(t.generations).values(row))
    return value


def clear_refusals(connection: sa.Connection, place: Place, at: datetime) -> None:
    """Let an operation be proposed again that people refused too often: a person has retried the work."""
    raise_generation(connection, place)
    connection.execute(sa.update(t.generations).where(*_is_place(place)).values(refusals_cleared_at=at))


def places_of(connection: sa.Connection, family: str, checkpoints: Iterable[str] | None = None) -> list[Place]:
    """The places of a family at which actions were proposed, at these checkpoints or at all of them."""
    query = sa.select(A.family_id, A.checkpoint_id, A.item).where(A.family_id == family).distinct()
    if checkpoints is not None:
        query = query.where(A.checkpoint_id.in_(list(checkpoints)))
    return [Place(*row) for row in connection.execute(query.order_by(A.checkpoint_id, A.item))]


# Runs and executions
def family_of(connection: sa.Connection, run_id: str) -> str:
    r = t.pipeline_runs.c
    return connection.execute(sa.select(r.origin_run_id).where(r.run_id == run_id)).scalar() or run_id


def starter_of(connection: sa.Connection, family: str) -> str:
    """Who started the first run of a family."""
    r = t.pipeline_runs.c
    return connection.execute(sa.select(r.created_by).where(r.run_id == family)).scalar() or ""


def sandbox_of(connection: sa.Connection, execution_id: str) -> str | None:
    e = t.checkpoint_executions.c
    return connection.execute(sa.select(e.sandbox).where(e.execution_id == execution_id)).scalar()
