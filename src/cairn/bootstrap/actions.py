"""Build the services that judge, start and send actions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from cairn.adapters.action_journal import FileJournal
from cairn.bootstrap import adapters
from cairn.config import Settings
from cairn.ports import HttpClient, Mailer
from cairn.ports.tools import ToolCaller
from cairn.services.actions.action_views import ActionQueries
from cairn.services.actions.carrier import ActionCarrier
from cairn.services.actions.catalogue import Catalogue
from cairn.services.actions.circumstances import CircumstancesReader, InstallationKey
from cairn.services.actions.gate import Gate
from cairn.services.actions.held import HeldActions
from cairn.services.actions.modifications import ActionModifications
from cairn.services.actions.offers import ActionOffers
from cairn.services.actions.proposals import ActionProposals
from cairn.services.actions.resolving import ActionResolver
from cairn.services.actions.sender import ActionSender
from cairn.services.actions.service import ActionService
from cairn.services.actions.transports import Transports
from cairn.services.engine.engine import Engine
from cairn.services.notifications.outbox import NotificationOutbox
from cairn.services.rules.active_rules import ActiveRules
from cairn.services.secrets import SecretStore
from cairn.services.tools.queries import tool_type


@dataclass(frozen=True)
class Actions:
    catalogue: Catalogue
    resolver: ActionResolver
    transports: Transports
    client: HttpClient  # follows no redirects and doesn't reach this server
    offers: ActionOffers
    proposals: ActionProposals
    sender: ActionSender
    held: HeldActions
    service: ActionService
    modifications: ActionModifications
    queries: ActionQueries
    gate: Gate
    journal: FileJournal


def build_actions(
    settings: Settings,
    engine: Engine,
    mailer: Mailer,
    secrets: SecretStore,
    rules: ActiveRules,
    outbox: NotificationOutbox,
    tools: ToolCaller,
) -> Actions:
    database = engine.database
    catalogue, client = Catalogue(settings.actions, tool_type), adapters.action_client(settings)
    resolver = ActionResolver(catalogue, adapters.own_addresses(settings))
    transports = Transports(database, mailer, client, secrets)
    carrier = ActionCarrier(database, transports, tools, resolver, engine.plans)
    key = InstallationKey()
    reader = CircumstancesReader(rules, key, trusts_plain_processes=settings.rules_without_sandbox)
    proposals = ActionProposals(reader, key)
    journal = FileJournal(journal_folder(settings))
    sender = ActionSender(engine, reader, key, carrier, journal, str(uuid4()), outbox.release)
    held = HeldActions(engine, proposals)
    sender.on_end = held.resume_after
    return Actions(
        catalogue,
        resolver,
        transports,
        client,
        ActionOffers(catalogue, resolver, carrier),
        proposals,
        sender,
        held,
        ActionService(engine, reader, journal, held.resume_after),
        ActionModifications(engine, resolver, key),
        ActionQueries(engine, catalogue),
        Gate(engine, journal, held, sender, key, secrets),
        journal,
    )


def journal_folder(settings: Settings) -> Path:
    """The folder of the journals of all installations, outside their data folders."""
    if settings.journal_dir is not None:
        return settings.journal_dir.resolve()
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "cairn"
