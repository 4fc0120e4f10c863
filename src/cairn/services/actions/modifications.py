"""Approving an action with other parameters: shown as a diff first, checked, kept beside the original."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import sqlalchemy as sa

from cairn.core.commands import Decide
from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalStatus
from cairn.documents import Value, digest, encode_json
from cairn.documents.pointers import join
from cairn.services.actions.catalogue import ActionType, type_of
from cairn.services.actions.corrections import Correction, CorrectionWrite
from cairn.services.actions.proposals import LARGEST, approved, digest_of, problems_of
from cairn.services.engine.commit import NO_ATTACHMENTS, Attachments
from cairn.services.engine.plans import DefinitionCache
from cairn.services.errors import InvalidInput
from cairn.store import Connection, Database, blobs
from cairn.store import tables as t
from cairn.store.errors import NotFound


@dataclass(frozen=True, slots=True)
class CurrentProposal:
    """A proposed action, as far as it is needed to change it."""

    operation_type: str
    parameters: dict[str, Any]  # as they stand: proposed, or modified by somebody before
    kind: ActionType
    status: ApprovalStatus


@dataclass(frozen=True, slots=True)
class ModificationPreview:
    """What a modification would make of an action."""

    parameters: dict[str, Any]
    changes: tuple[dict[str, Any], ...]
    problems: tuple[tuple[str, str], ...]


class ActionModifications:
    def __init__(self, database: Database, plans: DefinitionCache) -> None:
        self._database = database
        self._plans = plans

    def preview(self, connection: Connection, approval_id: str, patch: Mapping[str, Any]) -> ModificationPreview:
        """Without doing it."""
        return _modified(self._find(connection, approval_id), patch)

    async def modify(self, approval_id: str, command: Decide, patch: Mapping[str, Any]) -> tuple[Decide, Attachments]:
        """The decision that approves the modified parameters, and what is saved with it."""
        proposed = await self._database.aread(lambda c: self._find(c, approval_id))
        if proposed.status is not ApprovalStatus.PENDING:
            raise CommandRefused(f"It is not asked any more: the approval is {proposed.status.value}.")
        modified = _modified(proposed, patch)
        if modified.problems:
            raise InvalidInput([(f"/modified_params{path}", message) for path, message in modified.problems])
        if not modified.changes:
            return command, NO_ATTACHMENTS
        content = encode_json(modified.parameters)
        checksum = await self._database.transact(lambda c: blobs.put(c, content))
        made = digest_of(proposed.operation_type, modified.parameters)
        learnt = Correction(
            approval_id, proposed.operation_type, proposed.parameters, modified.parameters, modified.changes
        )
        attachments = Attachments(writes=(CorrectionWrite(learnt, made, command.feedback),))
        return replace(command, decision="modify", answer=checksum, modified_digest=made), attachments

    def _find(self, connection: Connection, approval_id: str) -> CurrentProposal:
        a, p, e = t.actions.c, t.approvals.c, t.checkpoint_executions.c
        row = connection.execute(
            sa.select(a.operation_type, a.parameters, p.status, p.pipeline_id, e.definition_revision)
            .join(t.approvals, p.approval_id == a.approval_id)
            .join(t.checkpoint_executions, e.execution_id == a.execution_id)
            .where(a.approval_id == approval_id)
        ).one_or_none()
        if row is None:
            raise NotFound("proposed action", approval_id)
        definition = self._plans.definition(connection, row.pipeline_id, row.definition_revision)
        parameters = approved(connection, approval_id, row.parameters)
        return CurrentProposal(
            row.operation_type, parameters, type_of(definition, row.operation_type), ApprovalStatus(row.status)
        )


def _modified(proposed: CurrentProposal, patch: Mapping[str, Any]) -> ModificationPreview:
    merged = merge(proposed.parameters, dict(patch))
    problems = problems_of(proposed.kind, merged)
    if len(encode_json(merged)) > LARGEST:
        problems = [("", f"The parameters have more than {LARGEST // 1024} KB.")]
    return ModificationPreview(merged, tuple(changes(proposed.parameters, merged)), tuple(problems))


ABSENT: Any = object()


def changes(original: Value, modified: Value, path: tuple[str | int, ...] = ()) -> Iterator[dict[str, Any]]:
    """Fields that differ. `change_type` is added, removed or updated; of numbers also by how much."""
    if isinstance(original, dict) and isinstance(modified, dict):
        for name in (*original, *(name for name in modified if name not in original)):
            before, after = original.get(name, ABSENT), modified.get(name, ABSENT)
            if before is ABSENT or after is ABSENT:
                yield _change((*path, name), before, after)
            else:
                yield from changes(before, after, (*path, name))
    elif digest(original) != digest(modified):
        yield _change(path, original, modified)


def _change(path: tuple[str | int, ...], before: Any, after: Any) -> dict[str, Any]:
    kind = "added" if before is ABSENT else "removed" if after is ABSENT else "updated"
    change: dict[str, Any] = {
        "field": ".".join(str(part) for part in path),
        "path": join(list(path)),
        "original": None if before is ABSENT else before,
        "modified": None if after is ABSENT else after,
        "change_type": kind,
    }
    if _is_number(before) and _is_number(after):
        change["difference"] = round(after - before, 10)
    return change


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def merge(original: Value, patch: dict[str, Any]) -> dict[str, Any]:
    """The parameters with those that are given in place of theirs; null takes an optional one away."""
    merged = dict(cast("dict[str, Any]", original) if isinstance(original, dict) else {})
    for name, value in patch.items():
        if value is None and merged.get(name, ABSENT) is not None:
            merged.pop(name, None)
        else:
            merged[name] = value
    return merged
