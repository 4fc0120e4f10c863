"""Approving an action with other parameters: shown as a diff first, checked, kept beside the original (H3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from cairn.core.commands import Decide
from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalStatus
from cairn.documents import encode_json
from cairn.services.actions.catalogue import ActionType, type_of
from cairn.services.actions.corrections import Correction, CorrectionWrite
from cairn.services.actions.parameter_changes import changes, merge
from cairn.services.actions.proposals import LARGEST, approved, digest_of, problems_of
from cairn.services.engine.commit import NO_ATTACHMENTS, Attachments
from cairn.services.engine.plans import DefinitionCache
from cairn.services.errors import InvalidInput, NotFound
from cairn.store import Database, blobs
from cairn.store import tables as t


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

    def preview(self, connection: sa.Connection, approval_id: str, patch: Mapping[str, Any]) -> ModificationPreview:
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
        return replace(command, decision="modify", answer=checksum, modified=made), attachments

    def _find(self, connection: sa.Connection, approval_id: str) -> CurrentProposal:
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
