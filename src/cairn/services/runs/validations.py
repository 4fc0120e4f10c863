"""What validation found of results: saved with the report, shown with the execution."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from cairn.core.commands import CommandContext
from cairn.core.execution import Execution
from cairn.ports import ValidationVerdict
from cairn.services.engine.commit import Commit
from cairn.services.runs.execution_views import ResultFinding, ResultValidation
from cairn.services.text import sanitize
from cairn.store import Connection
from cairn.store import tables as t

V = t.validations.c


@dataclass(frozen=True, slots=True)
class VerdictWrite:
    """Save what validation found of a result, with its report."""

    execution: str
    verdicts: tuple[ValidationVerdict, ...]

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        e = commit.before.run.executions[self.execution]
        rows = [_row(e, position, verdict, commit.context) for position, verdict in enumerate(self.verdicts)]
        if rows:
            connection.execute(sa.insert(t.validations), rows)


def _row(e: Execution, position: int, verdict: ValidationVerdict, context: CommandContext) -> dict[str, Any]:
    return {
        "execution_id": e.id,
        "dispatch_number": e.dispatch,
        "position": position,
        "revision_iteration": e.revision,
        "attempt_number": e.attempt,
        "by": verdict.check,
        "passed": verdict.passed,
        "reason": sanitize(verdict.reason),
        "findings": [
            {
                "path": sanitize(one.path),
                "message": sanitize(one.message),
                "expected": sanitize(one.expected),
                "actual": sanitize(one.actual),
            }
            for one in verdict.findings
        ],
        "model": verdict.model,
        "is_simulated": verdict.is_simulated,
        "at": context.at,
    }


def of_executions(connection: Connection, execution_ids: Sequence[str]) -> dict[str, list[ResultValidation]]:
    """Oldest first."""
    found: defaultdict[str, list[ResultValidation]] = defaultdict(list)
    query = sa.select(t.validations).where(V.execution_id.in_(execution_ids))
    for row in connection.execute(query.order_by(V.dispatch_number, V.position)):
        found[row.execution_id].append(
            ResultValidation(
                attempt_number=row.attempt_number,
                revision_iteration=row.revision_iteration,
                at=row.at,
                by=row.by,
                passed=row.passed,
                reason=row.reason,
                findings=[ResultFinding(**one) for one in row.findings],
                model=row.model,
                is_simulated=row.is_simulated,
            )
        )
    return found
