"""Every setting and its sources."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveInt, SecretStr, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from cairn.config.action_types import TYPE_NAME, ActionTypeDeclaration
from cairn.config.sections import McpSettings, ModelPriceSettings, ModelProviderSettings, OidcSettings

MEGABYTE = 1024 * 1024


class Settings(BaseSettings):
    """Every setting, with its default."""

    model_config = SettingsConfigDict(env_prefix="CAIRN_", extra="forbid", frozen=True)

    data_dir: Path = Field(
        default=Path("cairn-data"), description="Data folder: the database, the folder tree, settings and locks."
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8700, ge=0, le=65535, description="Port to listen on. 0 picks a free port.")
    admin_token: SecretStr | None = Field(default=None, description="Token that signs in as `admin`, for automation.")
    secret_key: SecretStr | None = Field(
        default=None,
        description="Encryption keys of the secret store, newest first, separated by commas. Default: a key file in the"
        " data folder.",
    )
    oidc: list[OidcSettings] = Field(
        default_factory=list[OidcSettings], description="Identity providers that people can sign in with. See below."
    )
    allowed_hosts: list[str] = Field(
        default_factory=list, description="Host names the server accepts, in addition to loopback and its own address."
    )

    database_url: str | None = Field(
        default=None, description="PostgreSQL URL. Default: an SQLite file in the data folder."
    )
    db_synchronous: Literal["FULL", "NORMAL"] = Field(
        default="FULL",
        description="SQLite's `synchronous` mode. `NORMAL` may lose the latest changes in a power failure.",
    )
    db_pool_size: PositiveInt = Field(default=5, description="Number of PostgreSQL connections.")
    db_timeout_seconds: PositiveInt = Field(
        default=30, description="How long to wait for a database connection or lock."
    )

    max_checkpoints: PositiveInt = Field(default=200, description="Maximum number of checkpoints per pipeline.")
    max_file_size_mb: PositiveInt = Field(default=100, description="Maximum size of a file.")
    max_payload_mb: PositiveInt = Field(
        default=10, description="Maximum size of a JSON payload. Payloads above half of it cause a warning."
    )
    max_context_length: PositiveInt = Field(
        default=200_000, description="Maximum context of a checkpoint, in characters."
    )
    max_checkpoint_timeout_minutes: PositiveInt = Field(default=480, description="Maximum timeout of a checkpoint.")
    max_retry_attempts: int = Field(default=5, ge=0, description="Maximum number of automatic retries of a checkpoint.")

    archive_retention_days: int = Field(
        default=365, ge=0, description="How long to keep archives. 0 keeps them forever."
    )
    error_retention_days: int = Field(
        default=90, ge=0, description="How long to keep the workspaces of failed executions."
    )
    test_retention_days: int = Field(default=7, ge=0, description="How long to keep test runs.")
    delivery_retention_days: int = Field(
        default=90, ge=0, description="How long to keep the delivery log of notifications. 0 keeps it forever."
    )
    log_file_max_size_mb: PositiveInt = Field(default=50, description="Size at which a log file is rotated.")
    log_backup_count: int = Field(default=5, ge=0, description="Number of rotated log files to keep.")

    functions: list[str] = Field(
        default_factory=list, description="Python modules with functions that pipelines can call."
    )
    max_concurrent_executions: PositiveInt = Field(
        default=32,
        description="Maximum number of executions that run at the same time, not counting agents and scripts.",
    )
    script_sandbox: Literal["bubblewrap", "process"] = Field(
        default="bubblewrap", description="Minimum sandbox level for scripts. Scripts don't run in a weaker one."
    )
    script_network: bool = Field(default=False, description="Whether scripts that request network access get it.")
    script_interpreters: list[str] = Field(
        default_factory=list,
        description="Paths of Python interpreters that scripts can use in addition to Cairn's own.",
    )
    max_concurrent_scripts: int = Field(
        default=0, ge=0, description="Maximum number of scripts that run at the same time. 0 means one per processor."
    )
    script_memory_mb: PositiveInt = Field(default=2048, description="Memory limit of each process of a script.")
    script_processes: PositiveInt = Field(
        default=64, description="Maximum number of processes and threads of a script."
    )
    script_open_files: PositiveInt = Field(
        default=256, description="Maximum number of open files of each process of a script."
    )
    script_output_kb: PositiveInt = Field(default=1024, description="Maximum size of a script's output in its log.")
    script_output_lines: PositiveInt = Field(
        default=10_000, description="Maximum number of lines of a script's output in its log."
    )
    default_model: str | None = Field(
        default=None,
        description="Model of agents that don't name one. Default: an Anthropic model if there is a key for it,"
        " otherwise the simulated model.",
    )
    default_max_tokens: PositiveInt = Field(default=8000, description="Maximum number of tokens in a response.")
    default_temperature: float = Field(
        default=0.7, ge=0, le=2, description="Sampling temperature, for models that support it."
    )
    model_fallbacks: list[str] = Field(
        default_factory=list, description="Models to try in order when the first one is unavailable."
    )
    model_timeout_seconds: float = Field(
        default=120.0, gt=0, description="How long to wait for a provider that sends nothing."
    )
    model_retries: int = Field(default=2, ge=0, description="How often to retry a call after a transient error.")
    model_retry_delay_seconds: float = Field(
        default=1.0,
        ge=0,
        description="Delay before the first retry, unless the provider names one. It doubles with each retry.",
    )
    model_max_wait_seconds: float = Field(
        default=60.0, ge=0, description="Maximum time to wait when a provider asks for a delay."
    )
    model_providers: dict[str, ModelProviderSettings] = Field(
        default_factory=dict[str, ModelProviderSettings],
        description="Providers with another address, key or name than usual. See below.",
    )
    model_prices: dict[str, ModelPriceSettings] = Field(
        default_factory=dict[str, ModelPriceSettings],
        description="Prices by `provider:model` or `provider:*`. They override the price table. See below.",
    )
    simulation_chars_per_second: float = Field(
        default=400.0, ge=0, description="Speed of the simulated model, in characters per second. 0 means no delay."
    )
    simulation_file: Path | None = Field(default=None, description="YAML file with steps for the simulated model.")
    max_concurrent_agents: PositiveInt = Field(
        default=100, description="Maximum number of agent executions that run at the same time."
    )
    code_sandbox: Literal["bubblewrap", "process"] = Field(
        default="bubblewrap", description="Minimum sandbox level for code that agents run (`code_execution`)."
    )
    code_timeout_seconds: PositiveInt = Field(default=60, description="Timeout of each program that an agent runs.")
    code_memory_mb: PositiveInt = Field(default=1024, description="Memory limit of each process of such a program.")
    web_search: Literal["off", "native", "backend"] = Field(
        default="off",
        description="How agents search the web: with the provider's own tool (`native`) or at `web_search_url`"
        " (`backend`).",
    )
    web_search_url: str | None = Field(
        default=None,
        pattern=r"^https?://\S+$",
        description="Search endpoint that takes `q` and returns JSON, such as SearXNG.",
    )
    web_search_secret: str | None = Field(
        default=None, description="Name of the secret to send to the search endpoint as a bearer token."
    )
    mcp_servers: dict[str, McpSettings] = Field(
        default_factory=dict[str, McpSettings], description="MCP servers with tools for agents, by name. See below."
    )
    actions: dict[str, ActionTypeDeclaration] = Field(
        default_factory=dict[str, ActionTypeDeclaration],
        description="Action types that agents and scripts can propose, by name. See below.",
    )
    rules_without_sandbox: bool = Field(
        default=False, description="Whether rules may approve actions of scripts that run without a sandbox."
    )
    journal_dir: Path | None = Field(
        default=None,
        description="Folder of the journal that records each action before it starts. Keep it out of backups: it tells"
        " a restored database what was executed since. Default: `cairn` in `$XDG_STATE_HOME` or `~/.local/state`.",
    )
    public_url: str | None = Field(
        default=None, description="URL of this server in a browser. Links in notifications start with it."
    )
    outbound_allowed: list[str] = Field(
        default_factory=list,
        description="Private hosts and networks that outgoing requests may reach.",
    )
    smtp_host: str | None = Field(default=None, description="Mail server.")
    smtp_port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="Port of the mail server. Default: 587, 465 or 25, depending on `smtp_tls`.",
    )
    smtp_tls: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="Encryption of the connection to the mail server."
    )
    smtp_user: str | None = Field(default=None, description="Username for the mail server.")
    smtp_password: SecretStr | None = Field(default=None, description="Password for the mail server.")
    smtp_secret: str | None = Field(default=None, description="Name of the secret that holds the password instead.")
    smtp_from: str = Field(default="cairn@localhost", description="Sender address of emails.")
    poll_seconds: float = Field(default=1.0, gt=0, description="How often to poll the job queue.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="Minimum level of log messages."
    )

    @field_validator("actions")
    @classmethod
    def check_action_names(cls, actions: dict[str, ActionTypeDeclaration]) -> dict[str, ActionTypeDeclaration]:
        for name in actions:
            if not TYPE_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is not the name of an action type: use a-z, 0-9 and _ . : / -")
        return actions

    @field_validator("model_fallbacks")
    @classmethod
    def reject_simulated_models(cls, names: list[str]) -> list[str]:
        if any(name.startswith("simulated:") for name in names):
            raise ValueError("a simulated model can't be a fallback for a real one")
        return names

    @property
    def max_file_bytes(self) -> int:
        return self.max_file_size_mb * MEGABYTE

    @property
    def max_payload_bytes(self) -> int:
        return self.max_payload_mb * MEGABYTE

    @property
    def script_slots(self) -> int:
        return self.max_concurrent_scripts or os.cpu_count() or 1

    @property
    def log_file_max_bytes(self) -> int:
        return self.log_file_max_size_mb * MEGABYTE

    @property
    def secret_values(self) -> tuple[str, ...]:
        """Values that must never be logged."""
        provider_secrets = (provider.client_secret for provider in self.oidc)
        secrets = (self.admin_token, self.secret_key, self.smtp_password, *provider_secrets)
        return tuple(secret.get_secret_value() for secret in secrets if secret is not None)

    @property
    def base_url(self) -> str:
        """The base URL of links, without a trailing slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def effective_database_url(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir.resolve() / 'cairn.db'}"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic defines the signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        arguments: dict[str, Any] = init_settings()
        folder = Path(arguments.get("data_dir") or os.environ.get("CAIRN_DATA_DIR") or "cairn-data")
        file = TomlConfigSettingsSource(settings_cls, folder / "settings.toml")
        return init_settings, env_settings, file
