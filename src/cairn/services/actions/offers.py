"""The actions that an agent can propose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cairn.definitions import PipelineDefinition
from cairn.ports import ActionOffer, PastCorrection, ProposesAction
from cairn.services.actions.action_type import ActionType
from cairn.services.actions.catalogue import Catalogue
from cairn.services.actions.queries import similar_corrections
from cairn.services.actions.resolving import ActionRefusal, ActionResolver, ResolvedAction
from cairn.store import Connection, LoadedRun, NewArtifact

MAX_CORRECTIONS = 3  # per operation
OFFERED = ("http_request", "send_email")  # to pipelines that declare no actions


class Carrier(Protocol):
    def refusal(self, action: ActionType, proposed: ProposesAction) -> str | None:
        """Why the action can't be carried out. None if it can."""
        ...


class ActionOffers:
    def __init__(self, catalogue: Catalogue, resolver: ActionResolver, carrier: Carrier) -> None:
        self._catalogue = catalogue
        self._resolver = resolver
        self._carrier = carrier

    def of(self, connection: Connection, definition: PipelineDefinition, pipeline_id: str) -> tuple[ActionOffer, ...]:
        """The actions that the pipeline declares, or those that Cairn executes if it declares none."""
        offers: list[ActionOffer] = []
        for name in definition.actions or OFFERED:
            action = self._catalogue.find(connection, definition, name)
            corrections = tuple(
                PastCorrection(row.original, row.modified, row.feedback)
                for row in similar_corrections(connection, name, {}, MAX_CORRECTIONS, pipeline_id)
            )
            risk, schema = action.risk.value, action.offered_schema
            offers.append(ActionOffer(name, risk, action.description, schema, corrections, action.executor))
        return tuple(offers)

    def resolve(
        self,
        connection: Connection,
        definition: PipelineDefinition,
        loaded: LoadedRun,
        proposed: ProposesAction,
        staged: Sequence[NewArtifact] = (),
    ) -> ResolvedAction | ActionRefusal:
        """Resolve a proposal. An action that can't be carried out is refused before anyone is asked."""
        resolved = self._resolver.resolve(connection, definition, loaded, proposed, staged=staged)
        if isinstance(resolved, ResolvedAction) and (reason := self._carrier.refusal(resolved.type, proposed)):
            return ActionRefusal(proposed.operation_type, (("", reason),))
        return resolved

    def error(
        self, connection: Connection, definition: PipelineDefinition, loaded: LoadedRun, proposed: ProposesAction
    ) -> str | None:
        """Why a proposed action is invalid. None if it is valid."""
        resolved = self.resolve(connection, definition, loaded, proposed)
        return resolved.message if isinstance(resolved, ActionRefusal) else None
