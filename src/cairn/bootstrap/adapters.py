"""Build adapters and policies from the settings."""

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
from cairn.core.destinations import parse_url
from cairn.ports import Clock, ProcessLimits, SandboxLevel
from cairn.ports.identity import IdentityProvider, ProviderPolicy
from cairn.ports.models import ModelCatalogue
from cairn.ports.own_addresses import OwnAddresses
from cairn.ports.tools import MCP_PREFIX
from cairn.runners.agents.policy import AgentPolicy, McpSecrets, McpServer, SearchPolicy
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.services.actions.resolving import ServerSecrets
from cairn.services.notifications.sender import OutboundPorts
from cairn.services.secret_uses import SecretUse
from cairn.services.secrets import SecretStore, SecretUnreadable

SECRET_PREFIX = "secret:"  # noqa: S105 - marks a value as the name of a secret
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
SHORT_TOKEN = 16  # characters: shorter tokens can be guessed


def configuration_warnings(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Risky settings, each as a pair of a warning and a hint."""
    warnings: list[tuple[str, str]] = []
    if settings.host not in LOOPBACK:
        warnings.append((f"listens on {settings.host} without encryption", "put a TLS proxy in front of the server"))
    if "*" in settings.allowed_hosts:
        warnings.append(("accepts every host name", "list the host names in CAIRN_ALLOWED_HOSTS"))
    if settings.admin_token is not None and len(settings.admin_token.get_secret_value()) < SHORT_TOKEN:
        warnings.append(("the admin token is short", "use a token with 32 characters or more"))
    if settings.database_url is None and settings.db_synchronous != "FULL":
        warnings.append(("a power failure can lose the latest changes", "set CAIRN_DB_SYNCHRONOUS to FULL"))
    return tuple(warnings)


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
    def search_key() -> str | None:
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
        mcp_servers=mcp_servers(settings),
        get_secret=mcp_secrets(secrets),
        search=SearchPolicy(settings.web_search, settings.web_search_url, search_key),
    )


def server_secrets(settings: Settings) -> dict[str, ServerSecrets]:
    """The secrets that the settings of each MCP server refer to."""
    return {
        name: ServerSecrets(
            tuple(
                value.removeprefix(SECRET_PREFIX)
                for value in (*server.env.values(), *server.headers.values())
                if value.startswith(SECRET_PREFIX)
            ),
            server.url,
        )
        for name, server in settings.mcp_servers.items()
    }


def mcp_secrets(secrets: SecretStore) -> McpSecrets:
    def get_secret(name: str, *, server: str, url: str | None, pipeline_id: str | None = None) -> str | None:
        try:
            destination = parse_url(url) if url is not None else None
        except ValueError:
            return None
        return secrets.get_for(name, SecretUse(pipeline_id, f"{MCP_PREFIX}{server}", destination))

    return get_secret


def mcp_servers(settings: Settings) -> dict[str, McpServer]:
    return {
        name: McpServer(
            server.command,
            tuple(server.args),
            server.env,
            server.url,
            server.headers,
            timeout_seconds=float(server.timeout_seconds),
            is_stateful=server.stateful,
        )
        for name, server in settings.mcp_servers.items()
    }


def own_addresses(settings: Settings) -> OwnAddresses:
    return OwnAddresses(settings.port, settings.base_url, settings.allowed_hosts)


def action_client(settings: Settings) -> HttpxClient:
    """The HTTP client of actions. It follows no redirects and doesn't reach this server."""
    guard = OutboundGuard(AllowedHosts.of(settings.outbound_allowed), own_addresses=own_addresses(settings))
    return HttpxClient(guard, follow_redirects=False)


def outbound_ports(settings: Settings, clock: Clock, secrets: SecretStore) -> OutboundPorts:
    """HTTP, email and messages. A guard limits the hosts that HTTP and messages can reach."""
    guard = OutboundGuard(AllowedHosts.of(settings.outbound_allowed))

    def password() -> str | None:
        return secrets.get(settings.smtp_secret) if settings.smtp_secret else reveal(settings.smtp_password)

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
            name: ProviderOptions(provider.kind, provider.base_url, provider.key, provider.structured_output)
            for name, provider in settings.model_providers.items()
        },
        prices={
            name: Price(price.input, price.output, price.cache_read, price.cache_write)
            for name, price in settings.model_prices.items()
        },
    )


def model_catalogue(settings: Settings, policy: ModelPolicy, secrets: SecretStore) -> ModelCatalogue:
    def find_key(name: str) -> str | None:
        try:
            return secrets.get(name)
        except SecretUnreadable as error:
            raise LookupError(str(error)) from None

    steps = {"steps": SimulationFile(settings.simulation_file)} if settings.simulation_file is not None else {}
    return PydanticAiModels(
        policy, find_key, os.environ, SimulatedModelFactory(settings.simulation_chars_per_second, **steps)
    )


def reveal(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


def identity_providers(settings: Settings, secrets: SecretStore) -> dict[str, tuple[ProviderPolicy, IdentityProvider]]:
    if not settings.oidc:
        return {}
    from cairn.adapters.oidc import OidcProvider  # its library takes a tenth of a second to import

    def build(oidc: OidcSettings) -> OidcProvider:
        return OidcProvider(oidc.registration, lambda: reveal(oidc.client_secret) or secrets.get(f"oidc-{oidc.name}"))

    return {oidc.name: (oidc.policy, build(oidc)) for oidc in settings.oidc}
