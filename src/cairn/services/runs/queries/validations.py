"""Verdicts of result validation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa

from cairn.services.runs.execution_views import ResultFinding, ResultValidation
from cairn.store import Connection
from cairn.store import tables as t

_V = t.validations.c


def validations_of_executions(
    connection: Connection, execution_ids: Sequence[str]
) -> dict[str, list[ResultValidation]]:
    """Validations by execution, oldest first."""
    validations: defaultdict[str, list[ResultValidation]] = defaultdict(list)
    query = sa.select(t.validations).where(_V.execution_id.in_(execution_ids))
    for row in connection.execute(query.order_by(_V.dispatch_number, _V.position)):
        validations[row.execution_id].append(
            ResultValidation(
                attempt_number=row.attempt_number,
                revision_iteration=row.revision_iteration,
                at=row.at,
                check=row.by,
                passed=row.passed,
                reason=row.reason,
                findings=[ResultFinding(**finding) for finding in row.findings],
                model=row.model,
                is_simulated=row.is_simulated,
            )
        )
    return validations
