"""Modify an action before it is approved: preview the changes, check and resolve them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from cairn.core.errors import CommandRefused
from cairn.core.states import ActionState
from cairn.documents import Value, digest
from cairn.documents.pointers import join
from cairn.ports import ProposesAction
from cairn.services.actions import queries, views
from cairn.services.actions.circumstances import InstallationKey
from cairn.services.actions.decisions import MODIFY, ActionDecision, NewContent
from cairn.services.actions.records import CorrectionWrite
from cairn.services.actions.resolving import ActionRefusal, ActionResolver, ResolvedAction
from cairn.services.engine.engine import Engine
from cairn.services.errors import InvalidInput
from cairn.store import Connection
from cairn.store.runs.run_rows import Row


@dataclass(frozen=True, slots=True)
class Modification:
    """An action after a modification, with the changes, or the errors that it causes."""

    row: Row  # of the action
    original: dict[str, Any]
    parameters: dict[str, Any]
    changes: tuple[dict[str, Any], ...]
    resolved: ResolvedAction | ActionRefusal

    @property
    def errors(self) -> tuple[tuple[str, str], ...]:
        return self.resolved.errors if isinstance(self.resolved, ActionRefusal) else ()


class ActionModifications:
    def __init__(self, engine: Engine, resolver: ActionResolver, key: InstallationKey) -> None:
        self._engine = engine
        self._resolver = resolver
        self._key = key

    def preview(self, approval_id: str, patch: Mapping[str, Any]) -> views.ModificationPreview:
        """Preview a modification without applying it."""

        def read(connection: Connection) -> Modification:
            return self._modified(connection, queries.action_of_approval(connection, approval_id), patch)

        modification = self._engine.database.read(read)
        errors = [views.ParameterError(path=path, message=message) for path, message in modification.errors]
        return views.ModificationPreview(
            approval_id=approval_id,
            parameters=modification.parameters,
            diff=[views.ParameterChange(**change) for change in modification.changes],
            validation=views.ModifyValidation(passed=not errors, errors=errors),
        )

    async def modify(
        self, action_id: str, decision: ActionDecision, patch: Mapping[str, Any], *, learn: bool
    ) -> ActionDecision:
        """The decision with the new content. `learn`: show the correction to agents from now on."""

        def read(connection: Connection) -> Modification:
            return self._modified(connection, queries.action_row(connection, action_id), patch)

        modification = await self._engine.database.aread(read)
        if modification.row.state != ActionState.WAITING.value:
            text = modification.row.state.replace("_", " ")
            raise CommandRefused(f"The action is {text}: you can no longer modify it.")
        resolved = modification.resolved
        if isinstance(resolved, ActionRefusal):
            raise InvalidInput([(f"/modified_params{path}", message) for path, message in resolved.errors])
        if not modification.changes:
            return decision
        new = NewContent(
            modification.parameters,
            resolved.content,
            dict(resolved.facts),
            resolved.content_digest,
            self._key.digest("identity", resolved.identity),
            resolved.summary,
            resolved.currency,
            resolved.type.effect,
            resolved.type.risk,
            modification.changes,
        )
        writes = (_correction(modification, decision),) if learn else ()
        return replace(decision, choice=MODIFY, new_content=new, writes=writes)

    def _modified(self, connection: Connection, row: Row, patch: Mapping[str, Any]) -> Modification:
        loaded = self._engine.load(connection, row.run_id, lock=False)
        definition = self._engine.plans.definition(connection, row.pipeline_id, row.definition_revision)
        original = queries.current_parameters(connection, row.action_id)
        merged = merge(original, dict(patch))
        proposed = ProposesAction(row.operation, merged)
        resolved = self._resolver.resolve(connection, definition, loaded, proposed, earlier=row.content)
        return Modification(row, original, merged, tuple(changes(original, merged)), resolved)


def _correction(modification: Modification, decision: ActionDecision) -> CorrectionWrite:
    assert isinstance(modification.resolved, ResolvedAction)
    return CorrectionWrite(
        modification.row.approval_id,
        modification.row.operation,
        original=modification.original,
        modified=modification.parameters,
        changes=modification.changes,
        modified_digest=modification.resolved.content_digest,
        feedback=decision.feedback,
    )


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
