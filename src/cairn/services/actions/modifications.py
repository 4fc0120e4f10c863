"""Approve an action with modified parameters: preview the changes, check them and save both versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from cairn.core.commands import Decide
from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalStatus
from cairn.documents import Value, digest, encode_json
from cairn.documents.pointers import join
from cairn.services.actions import queries, views
from cairn.services.actions.declared_types import DeclaredType, action_type, tool_action_type
from cairn.services.actions.proposals import MAX_BYTES, action_digest, parameter_errors
from cairn.services.actions.records import CorrectionWrite
from cairn.services.engine.commit import NO_ATTACHMENTS, Attachments
from cairn.services.engine.plans import DefinitionCache
from cairn.services.errors import InvalidInput
from cairn.store import Connection, Database, blobs


@dataclass(frozen=True, slots=True)
class CurrentProposal:
    """A proposed action with its current parameters, which another approver may have modified."""

    operation_type: str
    parameters: dict[str, Any]
    action: DeclaredType
    status: ApprovalStatus


@dataclass(frozen=True, slots=True)
class Modification:
    """The parameters of an action after a modification, with the changes and errors."""

    parameters: dict[str, Any]
    changes: tuple[dict[str, Any], ...]
    errors: tuple[tuple[str, str], ...]


class ActionModifications:
    def __init__(self, database: Database, plans: DefinitionCache) -> None:
        self._database = database
        self._plans = plans

    def preview(self, approval_id: str, patch: Mapping[str, Any]) -> views.ModificationPreview:
        """Preview a modification without applying it."""
        modification = _modification(self._database.read(lambda c: self._proposal(c, approval_id)), patch)
        errors = [views.ParameterError(path=path, message=message) for path, message in modification.errors]
        return views.ModificationPreview(
            approval_id=approval_id,
            parameters=modification.parameters,
            diff=[views.ParameterChange(**change) for change in modification.changes],
            validation=views.ModifyValidation(passed=not errors, errors=errors),
        )

    async def modify(self, approval_id: str, command: Decide, patch: Mapping[str, Any]) -> tuple[Decide, Attachments]:
        """Return the command that approves the modified parameters, and the correction to save with it."""
        proposal = await self._database.aread(lambda c: self._proposal(c, approval_id))
        if proposal.status is not ApprovalStatus.PENDING:
            raise CommandRefused(f"The approval is {proposal.status.value}: you can no longer modify the action.")
        modification = _modification(proposal, patch)
        if modification.errors:
            raise InvalidInput([(f"/modified_params{path}", message) for path, message in modification.errors])
        if not modification.changes:
            return command, NO_ATTACHMENTS
        content = encode_json(modification.parameters)
        checksum = await self._database.transact(lambda c: blobs.put(c, content))
        modified_digest = action_digest(proposal.operation_type, modification.parameters)
        correction = CorrectionWrite(
            approval_id,
            proposal.operation_type,
            original=proposal.parameters,
            modified=modification.parameters,
            changes=modification.changes,
            modified_digest=modified_digest,
            feedback=command.feedback,
        )
        modify = replace(command, decision="modify", answer=checksum, modified_digest=modified_digest)
        return modify, Attachments(writes=(correction,))

    def _proposal(self, connection: Connection, approval_id: str) -> CurrentProposal:
        row = queries.proposed_action(connection, approval_id)
        definition = self._plans.definition(connection, row.pipeline_id, row.definition_revision)
        parameters = queries.approved_parameters(connection, approval_id, row.parameters)
        name = row.operation_type
        action = tool_action_type(name, row.supporting_data) or action_type(definition, name)
        return CurrentProposal(name, parameters, action, ApprovalStatus(row.status))


def _modification(proposal: CurrentProposal, patch: Mapping[str, Any]) -> Modification:
    merged = merge(proposal.parameters, dict(patch))
    errors = parameter_errors(proposal.action, merged)
    if len(encode_json(merged)) > MAX_BYTES:
        errors = [("", f"The parameters are larger than {MAX_BYTES // 1024} KB.")]
    return Modification(merged, tuple(changes(proposal.parameters, merged)), tuple(errors))


ABSENT: Any = object()


def changes(original: Value, modified: Value, path: tuple[str | int, ...] = ()) -> Iterator[dict[str, Any]]:
    """The fields that differ, each with a `change_type`: added, removed or updated. Numbers have a `difference`."""
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
    change_type = "added" if before is ABSENT else "removed" if after is ABSENT else "updated"
    change: dict[str, Any] = {
        "field": ".".join(str(part) for part in path),
        "path": join(list(path)),
        "original": None if before is ABSENT else before,
        "modified": None if after is ABSENT else after,
        "change_type": change_type,
    }
    if _is_number(before) and _is_number(after):
        change["difference"] = round(after - before, 10)
    return change


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def merge(original: Value, patch: dict[str, Any]) -> dict[str, Any]:
    """Replace parameters. Null removes a parameter."""
    merged = dict(cast("dict[str, Any]", original) if isinstance(original, dict) else {})
    for name, value in patch.items():
        if value is None and merged.get(name, ABSENT) is not None:
            merged.pop(name, None)
        else:
            merged[name] = value
    return merged
