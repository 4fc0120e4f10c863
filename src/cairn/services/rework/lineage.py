"""Save the lineage of a dispatch with the report that ends it."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.core.states import ExecutionState
from cairn.services.engine.commit import Commit
from cairn.store import Connection, save_lineage


@dataclass(frozen=True, slots=True)
class LineageWrite:
    """Save which artifacts a dispatch could read, and which executions it depended on.

    An interrupted dispatch has no lineage, because nothing is known about it.
    """

    execution: str
    dispatch: int
    consumed: tuple[str, ...] = ()  # artifact records

    def __call__(self, connection: Connection, commit: Commit, /) -> None:
        run = commit.before.run
        dependencies = depends_on(run, run.executions[self.execution])
        save_lineage(connection, self.execution, self.dispatch, self.consumed, dependencies, commit.context.at)


def depends_on(run: Run, e: Execution) -> tuple[str, ...]:
    """The direct predecessors of an execution, and the completed reworks that it requested."""
    predecessors = (run.latest(key) for key in run.plan.predecessors[e.key])
    found = tuple(other.id for other in predecessors if other is not None)
    if not run.reworks:
        return found
    reworked = (o.id for o in run.current if o.parent_execution == e.id and o.state is ExecutionState.COMPLETED)
    return tuple(dict.fromkeys((*found, *reworked)))
