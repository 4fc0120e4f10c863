"""Build the services that resolve and send actions."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.bootstrap import adapters
from cairn.config import Settings
from cairn.ports import HttpClient, Mailer
from cairn.services.actions.catalogue import Catalogue
from cairn.services.actions.resolving import ActionResolver
from cairn.services.actions.transports import Transports
from cairn.services.secrets import SecretStore
from cairn.store import Database


@dataclass(frozen=True)
class Actions:
    catalogue: Catalogue
    resolver: ActionResolver
    transports: Transports
    client: HttpClient  # follows no redirects and doesn't reach this server


def build_actions(settings: Settings, database: Database, mailer: Mailer, secrets: SecretStore) -> Actions:
    catalogue = Catalogue(settings.actions)
    client = adapters.action_client(settings)
    return Actions(
        catalogue,
        ActionResolver(catalogue, adapters.own_addresses(settings), adapters.server_secrets(settings)),
        Transports(database, mailer, client, secrets),
        client,
    )
