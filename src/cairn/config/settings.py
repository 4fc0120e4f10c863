"""Every setting, with where it comes from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveInt, SecretStr, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from cairn.config.sections import McpSettings, ModelPriceSettings, ModelProviderSettings, OidcSettings

MEGABYTE = 1024 * 1024


class Settings(BaseSettings):
    """Every setting, with seed values as defaults."""

    model_config = SettingsConfigDict(env_prefix="CAIRN_", extra="forbid", frozen=True)

    data_dir: Path = Field(default=Path("cairn-data"), description="Where everything is kept.")
    host: str = Field(default="127.0.0.1", description="Address to listen on; loopback unless you say otherwise.")
    port: int = Field(default=8700, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    admin_token: SecretStr | None = Field(default=None, description="A token that signs in as admin, for automation.")
    secret_key: SecretStr | None = Field(
        default=None,
        description="Keys of the secret store, newest first, with commas; without them, a file in the data folder.",
    )
    oidc: list[OidcSettings] = Field(
        default_factory=list[OidcSettings], description="Identity providers that people sign in with; see below."
    )
    allowed_hosts: list[str] = Field(
        default_factory=list, description="Host names that the server answers to besides loopback and its own address."
    )

    database_url: str | None = Field(default=None, description="PostgreSQL; without it, a file in the data folder.")
    db_synchronous: Literal["FULL", "NORMAL"] = Field(default="FULL", description="SQLite's durability.")
    db_pool_size: PositiveInt = Field(default=5, description="Connections to PostgreSQL.")
    db_timeout_seconds: PositiveInt = Field(default=30, description="How long to wait for the database.")

    max_checkpoints: PositiveInt = Field(default=200, description="Checkpoints per pipeline.")
    max_file_size_mb: PositiveInt = Field(default=100, description="Size of one file.")
    max_payload_mb: PositiveInt = Field(default=10, description="Size of one JSON payload; half of it gives a warning.")
    max_context_length: PositiveInt = Field(default=200_000, description="Characters of context for one checkpoint.")
    max_checkpoint_timeout_minutes: PositiveInt = Field(default=480, description="Longest timeout of a checkpoint.")
    max_retry_attempts: int = Field(default=5, ge=0, description="Most automatic retries of a checkpoint.")

    archive_retention_days: int = Field(default=365, ge=0, description="How long archives are kept; 0 is for ever.")
    error_retention_days: int = Field(default=90, ge=0, description="How long failed workspaces are kept.")
    test_retention_days: int = Field(default=7, ge=0, description="How long test runs are kept.")
    delivery_retention_days: int = Field(
        default=90, ge=0, description="How long the log of notifications is kept; 0 is for ever."
    )
    log_file_max_size_mb: PositiveInt = Field(default=50, description="Size at which a log file is rotated.")
    log_backup_count: int = Field(default=5, ge=0, description="Rotated log files that are kept.")

    functions: list[str] = Field(default_factory=list, description="Python modules whose functions pipelines may call.")
    max_concurrent_executions: PositiveInt = Field(
        default=32, description="Executions that are carried out at the same time."
    )
    script_sandbox: Literal["bubblewrap", "process"] = Field(
        default="bubblewrap", description="How far scripts are shut in at the least; weaker is refused."
    )
    script_network: bool = Field(default=False, description="Whether scripts that ask for the network get it.")
    script_interpreters: list[str] = Field(
        default_factory=list, description="Interpreters that scripts may name, by path, besides Cairn's own."
    )
    max_concurrent_scripts: int = Field(
        default=0, ge=0, description="Scripts that run at the same time; 0 takes one for each processor."
    )
    script_memory_mb: PositiveInt = Field(default=2048, description="Memory of each process of a script.")
    script_processes: PositiveInt = Field(default=64, description="Processes and threads of one script.")
    script_open_files: PositiveInt = Field(default=256, description="Open files of each process of a script.")
    script_output_kb: PositiveInt = Field(default=1024, description="What of a script's output is kept in its log.")
    script_output_lines: PositiveInt = Field(default=10_000, description="Lines of a script's output that are kept.")
    default_model: str | None = Field(
        default=None,
        description="The model of agents that name none; without it Anthropic's if there is a key, else the simulated.",
    )
    default_max_tokens: PositiveInt = Field(default=8000, description="Tokens of the longest answer of a model.")
    default_temperature: float = Field(
        default=0.7, ge=0, le=2, description="How much chance there is in answers, where a model lets that be set."
    )
    model_fallbacks: list[str] = Field(
        default_factory=list, description="Models to take in turn when one cannot be had."
    )
    model_timeout_seconds: float = Field(
        default=120.0, gt=0, description="Silence of a provider after which a try is given up."
    )
    model_retries: int = Field(default=2, ge=0, description="Further tries of a call, for faults that may pass.")
    model_retry_delay_seconds: float = Field(
        default=1.0, ge=0, description="Before the first of them, where the provider does not say; then twice as long."
    )
    model_max_wait_seconds: float = Field(
        default=60.0, ge=0, description="The longest that a call waits when a provider asks it to."
    )
    model_providers: dict[str, ModelProviderSettings] = Field(
        default_factory=dict[str, ModelProviderSettings], description="Providers that are not as usual; see below."
    )
    model_prices: dict[str, ModelPriceSettings] = Field(
        default_factory=dict[str, ModelPriceSettings],
        description="Prices by `provider:model`, or `provider:*`, instead of those of the price table; see below.",
    )
    simulation_chars_per_second: float = Field(
        default=400.0, ge=0, description="Characters a second of the simulated model; 0 is as fast as may be."
    )
    simulation_file: Path | None = Field(
        default=None, description="A YAML file of steps that the simulated model follows."
    )
    max_concurrent_agents: PositiveInt = Field(
        default=100, description="Executions of agents that are carried out at the same time, besides the others."
    )
    code_sandbox: Literal["bubblewrap", "process"] = Field(
        default="bubblewrap", description="How far code of agents (`code_execution`) is shut in at the least."
    )
    code_timeout_seconds: PositiveInt = Field(default=60, description="Time of one program that an agent runs.")
    code_memory_mb: PositiveInt = Field(default=1024, description="Memory of each process of such a program.")
    web_search: Literal["off", "native", "backend"] = Field(
        default="off",
        description="How agents search the web: by the provider's own tool, or at `web_search_url`.",
    )
    web_search_url: str | None = Field(
        default=None,
        pattern=r"^https?://\S+$",
        description="A search that takes `q` and answers with JSON, as SearXNG does.",
    )
    web_search_secret: str | None = Field(
        default=None, description="The name of the secret that it is given as a bearer token."
    )
    mcp_servers: dict[str, McpSettings] = Field(
        default_factory=dict[str, McpSettings], description="Servers of tools for agents, by name; see below."
    )
    public_url: str | None = Field(
        default=None, description="Where people open this server in a browser; links in notifications begin with it."
    )
    outbound_allowed: list[str] = Field(
        default_factory=list,
        description="Hosts and networks that are not public and that requests of Cairn's may go to all the same.",
    )
    smtp_host: str | None = Field(default=None, description="The server that mail is handed to.")
    smtp_port: int | None = Field(
        default=None, ge=1, le=65535, description="Its port; without it 587, 465 or 25, as `smtp_tls` says."
    )
    smtp_tls: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="How mail is encrypted on the way to the server."
    )
    smtp_user: str | None = Field(default=None, description="Who signs in there.")
    smtp_password: SecretStr | None = Field(default=None, description="With which password.")
    smtp_secret: str | None = Field(default=None, description="The name of the secret that holds it instead.")
    smtp_from: str = Field(default="cairn@localhost", description="The address that mail comes from.")
    poll_seconds: float = Field(default=1.0, gt=0, description="How often the job queue is looked at.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="What is logged.")

    @field_validator("model_fallbacks")
    @classmethod
    def are_not_simulated(cls, names: list[str]) -> list[str]:
        if any(name.startswith("simulated:") for name in names):
            raise ValueError("nothing simulated stands in for a model that is not")
        return names

    @property
    def max_file_bytes(self) -> int:
        return self.max_file_size_mb * MEGABYTE

    @property
    def max_payload_bytes(self) -> int:
        return self.max_payload_mb * MEGABYTE

    @property
    def most_scripts(self) -> int:
        return self.max_concurrent_scripts or os.cpu_count() or 1

    @property
    def log_file_max_bytes(self) -> int:
        return self.log_file_max_size_mb * MEGABYTE

    @property
    def secret_values(self) -> tuple[str, ...]:
        """What is never to be logged."""
        given = (self.admin_token, self.secret_key, self.smtp_password, *(one.client_secret for one in self.oidc))
        return tuple(secret.get_secret_value() for secret in given if secret is not None)

    @property
    def link(self) -> str:
        """What links begin with, without a slash at the end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.public_url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def url(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir.resolve() / 'cairn.db'}"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        given: dict[str, Any] = init_settings()
        folder = Path(given.get("data_dir") or os.environ.get("CAIRN_DATA_DIR") or "cairn-data")
        file = TomlConfigSettingsSource(settings_cls, folder / "settings.toml")
        return init_settings, env_settings, file
