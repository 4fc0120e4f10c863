"""Adapters and rules, as the settings ask for them."""

from __future__ import annotations

import os

from pydantic import SecretStr

from cairn.adapters.apprise_messenger import AppriseMessenger
from cairn.adapters.http_client import HttpxClient
from cairn.adapters.models.catalogue import ModelPolicy, PydanticAiModels
from cairn.adapters.models.prices import Price
from cairn.adapters.models.providers import ProviderOptions
from cairn.adapters.outbound_guard import AllowedHosts, OutboundGuard
from cairn.adapters.simulated_model import SimulatedModelFactory
from cairn.adapters.simulated_model.script_file import SimulationFile
from cairn.adapters.smtp_mailer import SmtpMailer, SmtpServer
from cairn.config import OidcSettings, Settings
from cairn.ports import Clock, ProcessLimits, SandboxLevel
from cairn.ports.identity import IdentityProvider, ProviderPolicy
from cairn.ports.models import ModelCatalogue
from cairn.runners.agents.policy import AgentPolicy, McpServer, SearchPolicy
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.services.notifications.sender import OutboundPorts
from cairn.services.secrets import SecretStore, SecretUnreadable

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
SHORT_TOKEN = 16  # characters that a patient guesser may find


def doubts(settings: Settings) -> tuple[tuple[str, str], ...]:
    """What may be meant so, and is worth a second look."""
    found: list[tuple[str, str]] = []
    if settings.host not in LOOPBACK:
        found.append((f"it listens on {settings.host}, without encryption", "put a TLS proxy in front of it"))
    if "*" in settings.allowed_hosts:
        found.append(("it answers to every host name", "name them one by one in CAIRN_ALLOWED_HOSTS"))
    if settings.admin_token is not None and len(settings.admin_token.get_secret_value()) < SHORT_TOKEN:
        found.append(("the admin token is short", "take one of 32 characters or more"))
    if settings.database_url is None and settings.db_synchronous != "FULL":
        found.append(("a power cut may lose the last changes", "set CAIRN_DB_SYNCHRONOUS to FULL"))
    return tuple(found)


def script_policy(settings: Settings) -> ScriptPolicy:
    return ScriptPolicy(
        level=SandboxLevel(settings.script_sandbox),
        network=settings.script_network,
        interpreters=tuple(settings.script_interpreters),
        limits=ProcessLimits(
            memory_mb=settings.script_memory_mb,
            processes=settings.script_processes,
            open_files=settings.script_open_files,
            file_size_mb=settings.max_file_size_mb,
        ),
        output_bytes=settings.script_output_kb * 1024,
        output_lines=settings.script_output_lines,
    )


def agent_policy(settings: Settings, secrets: SecretStore) -> AgentPolicy:
    def key() -> str | None:
        return secrets.get(settings.web_search_secret) if settings.web_search_secret else None

    return AgentPolicy(
        code_level=SandboxLevel(settings.code_sandbox),
        code_timeout_seconds=settings.code_timeout_seconds,
        code_limits=ProcessLimits(
            memory_mb=settings.code_memory_mb,
            processes=settings.script_processes,
            open_files=settings.script_open_files,
            file_size_mb=settings.max_file_size_mb,
        ),
        mcp_servers={
            name: McpServer(
                one.command, tuple(one.args), one.env, one.url, one.headers, timeout_seconds=float(one.timeout_seconds)
            )
            for name, one in settings.mcp_servers.items()
        },
        get_secret=secrets.get,
        search=SearchPolicy(settings.web_search, settings.web_search_url, key),
    )


def outward(settings: Settings, clock: Clock, secrets: SecretStore) -> OutboundPorts:
    """The ways out, with what guards them."""
    guard = OutboundGuard(AllowedHosts.of(settings.outbound_allowed))

    def password() -> str | None:
        return secrets.get(settings.smtp_secret) if settings.smtp_secret else shown(settings.smtp_password)

    mailer = SmtpMailer(
        SmtpServer(
            host=settings.smtp_host,
            port=settings.smtp_port,
            user=settings.smtp_user,
            sender=settings.smtp_from,
            tls=settings.smtp_tls,
        ),
        clock,
        password,
    )
    return OutboundPorts(HttpxClient(guard), mailer, AppriseMessenger(guard))


def model_policy(settings: Settings) -> ModelPolicy:
    return ModelPolicy(
        default=settings.default_model,
        fallbacks=tuple(settings.model_fallbacks),
        max_tokens=settings.default_max_tokens,
        temperature=settings.default_temperature,
        timeout=settings.model_timeout_seconds,
        max_attempts=settings.model_retries + 1,
        retry_delay=settings.model_retry_delay_seconds,
        max_wait=settings.model_max_wait_seconds,
        providers={
            name: ProviderOptions(given.kind, given.base_url, given.key, given.structured_output)
            for name, given in settings.model_providers.items()
        },
        prices={
            name: Price(given.input, given.output, given.cache_read, given.cache_write)
            for name, given in settings.model_prices.items()
        },
    )


def open_models(settings: Settings, rules: ModelPolicy, secrets: SecretStore) -> ModelCatalogue:
    def opened(name: str) -> str | None:
        try:
            return secrets.get(name)
        except SecretUnreadable as error:
            raise LookupError(str(error)) from None

    steps = {"steps": SimulationFile(settings.simulation_file)} if settings.simulation_file is not None else {}
    return PydanticAiModels(
        rules, opened, os.environ, SimulatedModelFactory(settings.simulation_chars_per_second, **steps)
    )


def shown(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


def providers(settings: Settings, secrets: SecretStore) -> dict[str, tuple[ProviderPolicy, IdentityProvider]]:
    if not settings.oidc:
        return {}
    from cairn.adapters.oidc import OidcProvider  # its library takes a tenth of a second to import

    def provider(given: OidcSettings) -> OidcProvider:
        return OidcProvider(given.registration, lambda: shown(given.client_secret) or secrets.get(f"oidc-{given.name}"))

    return {given.name: (given.policy, provider(given)) for given in settings.oidc}
