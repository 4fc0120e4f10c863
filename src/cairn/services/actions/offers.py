"""Which actions an agent is told of, and why one that it proposes cannot be decided about."""

from __future__ import annotations

from cairn.core.execution import Failure
from cairn.definitions import PipelineDefinition
from cairn.ports import ActionOffer, PastCorrection, ProposesAction
from cairn.services.actions import corrections as learning
from cairn.services.actions.catalogue import CARRIED_OUT, type_of
from cairn.services.actions.proposals import weigh
from cairn.store import Connection

CORRECTIONS = 3  # of each operation


def offered(connection: Connection, definition: PipelineDefinition) -> tuple[ActionOffer, ...]:
    """What the pipeline declares; where it declares nothing, what Cairn carries out itself."""
    found: list[ActionOffer] = []
    for name in definition.actions or sorted(CARRIED_OUT):
        kind = type_of(definition, name)
        corrections = tuple(
            PastCorrection(row.original, row.modified, row.feedback)
            for row in learning.similar(connection, name, {}, CORRECTIONS)
        )
        found.append(ActionOffer(name, kind.risk.value, kind.description, kind.schema, corrections))
    return tuple(found)


def objection(definition: PipelineDefinition, proposed: ProposesAction) -> str | None:
    weighed = weigh(definition, proposed)
    return weighed.message if isinstance(weighed, Failure) else None
