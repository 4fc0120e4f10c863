"""Lineage: what a dispatch read and depended on, saved with the report that ends it."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.core.states import ExecutionState
from cairn.services.engine.commit import Commit
from cairn.store import Connection, save_lineage


@dataclass(frozen=True, slots=True)
class LineageWrite:
    """Save what a dispatch was given to read, and what had to be complete for it.

    What an interrupted dispatch read is unknown: its report comes without lineage.
    """

    execution: str
    dispatch: int
    consumed: tuple[str, ...] = ()  # artifact records

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        run = commit.before.run
        follows = depends_on(run, run.executions[self.execution])
        save_lineage(connection, self.execution, self.dispatch, self.consumed, follows, commit.context.at)


def depends_on(run: Run, e: Execution) -> tuple[str, ...]:
    """What it directly follows, and the reworks that it waited for."""
    before = (run.latest(key) for key in run.plan.predecessors[e.key])
    found = tuple(other.id for other in before if other is not None)
    if not run.reworks:
        return found
    reworked = (o.id for o in run.current if o.parent_execution == e.id and o.state is ExecutionState.COMPLETED)
    return tuple(dict.fromkeys((*found, *reworked)))
