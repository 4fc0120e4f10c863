"""The only place that chooses adapters and wires services together."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass

from pydantic import SecretStr

from cairn.adapters.clock import SystemClock
from cairn.adapters.jobs_dbos import DbosJobs
from cairn.adapters.key_file import keys_of
from cairn.adapters.mail_smtp import SmtpMailer, SmtpServer
from cairn.adapters.messages_apprise import AppriseMessenger
from cairn.adapters.model_prices import Price
from cairn.adapters.model_providers import ProviderRule, keys_in
from cairn.adapters.models_pydantic_ai import ModelRules, PydanticAiModels
from cairn.adapters.models_simulated import Simulated
from cairn.adapters.models_simulated.steps_file import StepsFile
from cairn.adapters.outward_guard import Allowed, Guard
from cairn.adapters.sandbox import BestSandbox
from cairn.adapters.web_httpx import HttpxWeb
from cairn.config import OidcSettings, Settings
from cairn.core.model import Mode
from cairn.definitions import Limits as DefinitionLimits
from cairn.files import Tree
from cairn.ports import Bounds, Clock, JobEngine, Level, Mailer, Runner, Sandbox, Web
from cairn.ports.identity import IdentityProvider, Policy
from cairn.ports.models import Models
from cairn.runners import FunctionRegistry, function, make_runners
from cairn.runners import Limits as RunnerLimits
from cairn.runners.agents.rules import AgentRules, McpServer, SearchRules
from cairn.runners.script_rules import ScriptRules
from cairn.services.access import Access
from cairn.services.accounts import Accounts, open_accounts
from cairn.services.actions.carrying import Carrying
from cairn.services.actions.modifying import Modifying
from cairn.services.actions.ways import Ways
from cairn.services.acts import Acts
from cairn.services.agents_library import AgentLibrary
from cairn.services.approvals import Approvals
from cairn.services.backtests import Backtests
from cairn.services.batches import Batches
from cairn.services.briefing import Briefing
from cairn.services.comments import Comments
from cairn.services.conversations import Conversations
from cairn.services.directory import Directory
from cairn.services.doctor import Doctor
from cairn.services.doctor_machine import Machine
from cairn.services.effects import Effects
from cairn.services.engine import Engine
from cairn.services.executions import Executions
from cairn.services.form_answers import FormAnswers
from cairn.services.hub import Hub
from cairn.services.idempotency import Idempotency
from cairn.services.keeper import Keeper
from cairn.services.lanes import Lanes
from cairn.services.logbook import Logbook
from cairn.services.mending import Mending
from cairn.services.models import KnownModels
from cairn.services.notices import Notices
from cairn.services.notices.opening import Telling, open_telling
from cairn.services.notices.sending import Outward
from cairn.services.pipelines import CarriedOut, Pipelines
from cairn.services.places import Places
from cairn.services.plans import Plans
from cairn.services.products import Storing
from cairn.services.projection import Projection
from cairn.services.reading import Reading
from cairn.services.reading.corrections import Corrections
from cairn.services.reading.library import LibraryReading
from cairn.services.reading.rule_reader import RuleReading
from cairn.services.retention import Days, Retention
from cairn.services.rework import Reworks
from cairn.services.rollbacks import Rollbacks
from cairn.services.rules import Rules
from cairn.services.rules_file import NAME as RULES
from cairn.services.rules_in_force import RulesInForce
from cairn.services.runs import Runs
from cairn.services.secrets import Secrets, Unreadable
from cairn.services.system_log import SystemLog
from cairn.services.uploads import Uploads
from cairn.store import Database

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
SHORT_TOKEN = 16  # characters that a patient guesser may find


@dataclass(frozen=True)
class Cairn:
    """Everything that a face of the product needs."""

    settings: Settings
    database: Database
    clock: Clock
    jobs: JobEngine
    hub: Hub
    engine: Engine
    runners: dict[Mode, Runner]
    sandbox: Sandbox
    models: Models
    known_models: KnownModels
    mailer: Mailer
    web: Web
    telling: Telling
    briefing: Briefing
    logbook: Logbook
    conversations: Conversations
    lanes: Lanes
    system_log: SystemLog
    retention: Retention
    keeper: Keeper
    library: AgentLibrary
    library_reading: LibraryReading
    pipelines: Pipelines
    runs: Runs
    executions: Executions
    approvals: Approvals
    rollbacks: Rollbacks
    reworks: Reworks
    rules: Rules
    rule_reading: RuleReading
    backtests: Backtests
    uploads: Uploads
    access: Access
    accounts: Accounts
    directory: Directory
    secrets: Secrets
    idempotency: Idempotency
    reading: Reading
    corrections: Corrections
    comments: Comments
    batches: Batches

    @property
    def doctor(self) -> Doctor:
        """Who looks at all of it."""
        machine = Machine(
            self.settings.data_dir.resolve(),
            _doubts(self.settings),
            Level(self.settings.script_sandbox),
            self.sandbox.probe,
        )
        return Doctor(
            self.database,
            self.keeper,
            self.reading,
            self.retention,
            self.jobs,
            self.clock,
            machine,
            self.rules,
            self.secrets,
            self.known_models,
        )

    def close(self) -> None:
        self.hub.close()
        self.database.close()


def _doubts(settings: Settings) -> tuple[tuple[str, str], ...]:
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


def _import(module: str) -> None:
    """A module of a user's may fail in any way: what is told is one line."""
    try:
        importlib.import_module(module)
    except Exception as error:
        raise ImportError(f"{module}: {type(error).__name__}: {error}", name=module) from error


def _script_rules(settings: Settings) -> ScriptRules:
    return ScriptRules(
        level=Level(settings.script_sandbox),
        network=settings.script_network,
        pythons=tuple(settings.script_pythons),
        bounds=Bounds(
            memory_mb=settings.script_memory_mb,
            processes=settings.script_processes,
            open_files=settings.script_open_files,
            file_size_mb=settings.max_file_size_mb,
        ),
        output_bytes=settings.script_output_kb * 1024,
        output_lines=settings.script_output_lines,
    )


def _agent_rules(settings: Settings, secrets: Secrets) -> AgentRules:
    def key() -> str | None:
        return secrets.get(settings.web_search_secret) if settings.web_search_secret else None

    return AgentRules(
        code_level=Level(settings.code_sandbox),
        code_seconds=settings.code_seconds,
        code_bounds=Bounds(
            memory_mb=settings.code_memory_mb,
            processes=settings.script_processes,
            open_files=settings.script_open_files,
            file_size_mb=settings.max_file_size_mb,
        ),
        mcp_servers={
            name: McpServer(
                one.command, tuple(one.args), one.env, one.url, one.headers, seconds=float(one.timeout_seconds)
            )
            for name, one in settings.mcp_servers.items()
        },
        secret=secrets.get,
        search=SearchRules(settings.web_search, settings.web_search_url, key),
    )


def _outward(settings: Settings, clock: Clock, secrets: Secrets) -> Outward:
    """The ways out, with what guards them."""
    guard = Guard(Allowed.of(settings.outward_allowed))

    def password() -> str | None:
        return secrets.get(settings.smtp_secret) if settings.smtp_secret else _value(settings.smtp_password)

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
    return Outward(HttpxWeb(guard), mailer, AppriseMessenger(guard))


def _model_rules(settings: Settings) -> ModelRules:
    return ModelRules(
        default=settings.default_model,
        fallbacks=tuple(settings.model_fallbacks),
        max_tokens=settings.default_max_tokens,
        temperature=settings.default_temperature,
        silence=settings.model_timeout_seconds,
        tries=settings.model_retries + 1,
        first_wait=settings.model_retry_seconds,
        longest_wait=settings.model_longest_wait_seconds,
        providers={
            name: ProviderRule(given.kind, given.base_url, given.key)
            for name, given in settings.model_providers.items()
        },
        prices={
            name: Price(given.input, given.output, given.cache_read, given.cache_write)
            for name, given in settings.model_prices.items()
        },
    )


def _models(settings: Settings, rules: ModelRules, secrets: Secrets) -> Models:
    def opened(name: str) -> str | None:
        try:
            return secrets.get(name)
        except Unreadable as error:
            raise LookupError(str(error)) from None

    steps = {"steps": StepsFile(settings.simulation_file)} if settings.simulation_file is not None else {}
    return PydanticAiModels(rules, opened, os.environ, Simulated(settings.simulation_pace, **steps))


def _value(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


def _providers(settings: Settings, secrets: Secrets) -> dict[str, tuple[Policy, IdentityProvider]]:
    if not settings.oidc:
        return {}
    from cairn.adapters.oidc import OidcProvider  # its library takes a tenth of a second to import

    def provider(given: OidcSettings) -> OidcProvider:
        return OidcProvider(
            given.registration, lambda: _value(given.client_secret) or secrets.get(f"oidc-{given.name}")
        )

    return {given.name: (given.policy, provider(given)) for given in settings.oidc}


def build(
    settings: Settings,
    *,
    functions: FunctionRegistry = function,
    clock: Clock | None = None,
    models: Models | None = None,
) -> Cairn:
    """Open the database, bring it up to date, and wire everything. Nothing runs yet: see `worker`."""
    for module in ("cairn.runners.sample_functions", *settings.functions):
        _import(module)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    clock = clock or SystemClock()
    database = Database(
        settings.url,
        synchronous=settings.db_synchronous,
        pool_size=settings.db_pool_size,
        timeout_seconds=settings.db_timeout_seconds,
    )
    database.migrate()
    tree = Tree(settings.data_dir.resolve() / "pipelines")
    jobs = DbosJobs(settings.url, database.system_engine, poll_seconds=settings.poll_seconds)
    hub, plans = Hub(), Plans()
    acts, directory = Acts(database, clock, hub), Directory(clock)
    access = Access(database, clock, directory, _value(settings.admin_token))
    model_rules = _model_rules(settings)
    untold = (*settings.secret_values, *keys_in(os.environ, model_rules.providers))
    secrets = Secrets(acts, keys_of(_value(settings.secret_key), settings.data_dir.resolve()), untold)
    secrets.remember()
    logbook = Logbook(database, hub, clock, secrets.mask_remembered)
    projection = Projection(database, tree, logbook)
    rules_in_force = RulesInForce(database, plans, secrets.mask)
    effects = Effects(database, projection, hub)
    engine = Engine(database, jobs, plans, effects, clock, rules_in_force.judge, Notices(jobs))
    ways = _outward(settings, clock, secrets)
    mending = Mending(database, plans, projection, clock)
    keeper = Keeper(database, engine, projection, mending, clock)
    limits = RunnerLimits(
        max_payload_bytes=settings.max_payload_bytes,
        max_file_bytes=settings.max_file_bytes,
        max_context_length=settings.max_context_length,
    )
    models = models or _models(settings, model_rules, secrets)
    sandbox = BestSandbox(settings.data_dir.resolve())
    script_rules = _script_rules(settings)
    agent_rules = _agent_rules(settings, secrets)
    runners = make_runners(limits, functions, sandbox, script_rules, models, agent_rules, ways.web)
    modes = frozenset(mode.value for mode in runners)
    answers = FormAnswers(database, plans)
    modifying = Modifying(database, plans)
    approvals = Approvals(engine, answers, modifying)
    conversations = Conversations(engine, hub, secrets)
    library = AgentLibrary(acts, agent_rules.mcp_servers.keys())
    briefing = Briefing(database, plans, tree, logbook, limits, conversations, library)
    definition_limits = DefinitionLimits(
        max_checkpoints=settings.max_checkpoints,
        max_timeout_minutes=settings.max_checkpoint_timeout_minutes,
        max_auto_retries=settings.max_retry_attempts,
    )
    rules = Rules(database, clock, hub, settings.data_dir.resolve() / RULES, directory.count_deciders)
    return Cairn(
        settings=settings,
        database=database,
        clock=clock,
        jobs=jobs,
        hub=hub,
        engine=engine,
        runners=runners,
        sandbox=sandbox,
        models=models,
        known_models=KnownModels(models, tuple(settings.model_fallbacks)),
        mailer=ways.mailer,
        web=ways.web,
        telling=open_telling(acts, engine, jobs, directory, ways, secrets, settings.link),
        briefing=briefing,
        logbook=logbook,
        conversations=conversations,
        lanes=Lanes(
            engine,
            briefing,
            Storing(database),
            keeper,
            runners,
            Carrying(engine, Ways(database, ways.mailer, ways.web)),
            Places(settings.max_runners, settings.most_scripts, settings.agent_runners),
        ),
        system_log=SystemLog(database, tree, max_bytes=settings.log_file_max_bytes, backups=settings.log_backup_count),
        retention=Retention(
            engine,
            tree,
            jobs,
            Days(
                settings.archive_retention_days,
                settings.error_retention_days,
                settings.test_retention_days,
                settings.delivery_retention_days,
            ),
        ),
        keeper=keeper,
        library=library,
        library_reading=LibraryReading(database),
        pipelines=Pipelines(
            engine,
            projection,
            mending,
            hub,
            keeper,
            limits=definition_limits,
            functions=functions,
            carried_out=CarriedOut(modes, script_rules, agent_rules, library.now),
        ),
        runs=Runs(engine, modes=modes, max_payload_bytes=settings.max_payload_bytes),
        executions=Executions(engine, approvals),
        approvals=approvals,
        rollbacks=Rollbacks(engine),
        reworks=Reworks(engine),
        rules=rules,
        rule_reading=RuleReading(database, rules_in_force, rules.file, clock),
        backtests=Backtests(database, plans, rules_in_force),
        uploads=Uploads(database, clock, max_bytes=settings.max_file_bytes),
        access=access,
        accounts=open_accounts(acts, access, _providers(settings, secrets)),
        directory=directory,
        secrets=secrets,
        idempotency=Idempotency(database, clock),
        reading=Reading(database, plans, engine, briefing),
        corrections=Corrections(database, modifying, clock),
        comments=Comments(engine),
        batches=Batches(approvals),
    )
