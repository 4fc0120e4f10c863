"""Resolve proposals against a database, without a running server."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import sqlalchemy as sa

from cairn.config.action_types import ActionTypeDeclaration
from cairn.definitions import PipelineDefinition
from cairn.ports import ProposesAction
from cairn.ports.own_addresses import OwnAddresses
from cairn.services.actions.catalogue import Catalogue
from cairn.services.actions.resolving import ActionRefusal, ActionResolver, ResolvedAction, ServerSecrets
from cairn.store import Connection, Database, LoadedRun
from cairn.store import tables as t
from tests.store.samples import NOON

Json = dict[str, Any]
PIPELINE = "pipeline"
OWN = OwnAddresses(8700, "https://cairn.example.com", ["internal.example.com"])


def definition(**actions: Json) -> PipelineDefinition:
    return PipelineDefinition.model_validate({"pipeline_name": "Test", "actions": actions})


def loaded(run_id: str = "run") -> LoadedRun:
    """Only these facts of a run count."""
    return cast("LoadedRun", SimpleNamespace(facts=SimpleNamespace(run_id=run_id, pipeline_id=PIPELINE)))


class Resolving:
    """`settings` are the types that an admin declares, `pipeline` those of the pipeline."""

    def __init__(
        self,
        database: Database,
        settings: Mapping[str, Json] | None = None,
        pipeline: Mapping[str, Json] | None = None,
        server_secrets: Mapping[str, ServerSecrets] | None = None,
    ) -> None:
        declared = {name: ActionTypeDeclaration.model_validate(entry) for name, entry in (settings or {}).items()}
        self.database = database
        self.resolver = ActionResolver(Catalogue(declared), OWN, server_secrets)
        self.definition = definition(**(pipeline or {}))

    def __call__(self, operation: str, parameters: Mapping[str, Any], **more: Any) -> ResolvedAction | ActionRefusal:
        options = {name: more.pop(name) for name in ("staged", "earlier") if name in more}
        run = loaded(more.pop("run_id", "run"))
        proposed = ProposesAction(operation, parameters, **more)
        return self.database.read(lambda c: self.resolver.resolve(c, self.definition, run, proposed, **options))

    def resolved(self, operation: str, parameters: Mapping[str, Any], **more: Any) -> ResolvedAction:
        found = self(operation, parameters, **more)
        assert isinstance(found, ResolvedAction), found
        return found

    def errors(self, operation: str, parameters: Mapping[str, Any], **more: Any) -> list[tuple[str, str]]:
        found = self(operation, parameters, **more)
        assert isinstance(found, ActionRefusal), found
        return list(found.errors)


def allow_secret(
    database: Database, name: str, hosts: list[str], action_types: list[str], pipelines: list[str] | None = None
) -> None:
    def insert(connection: Connection) -> None:
        values = {"ciphertext": "", "hosts": hosts, "pipelines": pipelines or [PIPELINE], "action_types": action_types}
        who = {"created_at": NOON, "created_by": "admin", "updated_at": NOON, "updated_by": "admin"}
        connection.execute(sa.insert(t.secrets).values(name=name, **values, **who))

    database.transact_now(insert)
