"""The actions that an agent can propose."""

from __future__ import annotations

from cairn.core.execution import Failure
from cairn.definitions import PipelineDefinition
from cairn.ports import ActionOffer, PastCorrection, ProposesAction
from cairn.services.actions.declared_types import EXECUTED_BY_CAIRN, action_type
from cairn.services.actions.proposals import assess
from cairn.services.actions.queries import similar_corrections
from cairn.store import Connection

MAX_CORRECTIONS = 3  # per operation


def action_offers(connection: Connection, definition: PipelineDefinition) -> tuple[ActionOffer, ...]:
    """The actions that the pipeline declares, or those that Cairn can execute if it declares none."""
    offers: list[ActionOffer] = []
    for name in definition.actions or sorted(EXECUTED_BY_CAIRN):
        action = action_type(definition, name)
        corrections = tuple(
            PastCorrection(row.original, row.modified, row.feedback)
            for row in similar_corrections(connection, name, {}, MAX_CORRECTIONS)
        )
        offers.append(ActionOffer(name, action.risk.value, action.description, action.schema, corrections))
    return tuple(offers)


def proposal_error(definition: PipelineDefinition, proposed: ProposesAction) -> str | None:
    """Why a proposed action is invalid. None if it is valid."""
    assessed = assess(definition, proposed)
    return assessed.message if isinstance(assessed, Failure) else None
