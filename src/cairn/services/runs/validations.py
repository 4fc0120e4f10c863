"""Save the verdicts of result validation in the transaction of their report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cairn.core.commands import CommandContext
from cairn.core.execution import Execution
from cairn.ports import ValidationVerdict
from cairn.services.engine.commit import Commit
from cairn.services.runs import records
from cairn.services.text import sanitize
from cairn.store import Connection


@dataclass(frozen=True, slots=True)
class VerdictWrite:
    execution_id: str
    verdicts: tuple[ValidationVerdict, ...]

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        e = commit.before.run.executions[self.execution_id]
        rows = [_row(e, position, verdict, commit.context) for position, verdict in enumerate(self.verdicts)]
        if rows:
            records.insert_validations(connection, rows)


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
                "path": sanitize(finding.path),
                "message": sanitize(finding.message),
                "expected": sanitize(finding.expected),
                "actual": sanitize(finding.actual),
            }
            for finding in verdict.findings
        ],
        "model": verdict.model,
        "is_simulated": verdict.is_simulated,
        "at": context.at,
    }
