"""Every service, given what it needs."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass

from cairn.adapters.clock import SystemClock
from cairn.adapters.jobs.dbos_engine import DbosJobs
from cairn.adapters.key_file import keys_of
from cairn.adapters.models.providers import keys_in
from cairn.adapters.sandbox.best_available import BestSandbox
from cairn.bootstrap import adapters
from cairn.bootstrap.identity import Accounts, open_accounts
from cairn.bootstrap.notifications import Telling, open_telling
from cairn.config import Settings
from cairn.core.states import Mode
from cairn.definitions import Limits as DefinitionLimits
from cairn.files import Tree
from cairn.ports import Clock, JobEngine, Level, Mailer, Runner, Sandbox, Web
from cairn.ports.models import Models
from cairn.runners import FunctionRegistry, function, make_runners
from cairn.runners import Limits as RunnerLimits
from cairn.services.actions.correction_queries import Corrections
from cairn.services.actions.execution import Carrying
from cairn.services.actions.modifications import Modifying
from cairn.services.actions.transports import Ways
from cairn.services.agent_library.queries import LibraryReading
from cairn.services.agent_library.service import AgentLibrary
from cairn.services.approvals.batches import Batches
from cairn.services.approvals.comments import Comments
from cairn.services.approvals.form_answers import FormAnswers
from cairn.services.approvals.service import Approvals
from cairn.services.approvals.uploads import Uploads
from cairn.services.conversations.service import Conversations
from cairn.services.dispatch.lanes import Lanes
from cairn.services.dispatch.results import Storing
from cairn.services.dispatch.runner_slots import Places
from cairn.services.dispatch.work_orders import Briefing
from cairn.services.doctor.machine import Machine
from cairn.services.doctor.service import Doctor
from cairn.services.engine.admin_changes import Acts
from cairn.services.engine.after_commit import Effects
from cairn.services.engine.engine import Engine
from cairn.services.engine.event_bus import Hub
from cairn.services.engine.plans import Plans
from cairn.services.folders.folder_repair import Keeper
from cairn.services.folders.folder_sync import Projection
from cairn.services.folders.recovery import Mending
from cairn.services.folders.system_log import SystemLog
from cairn.services.idempotency import Idempotency
from cairn.services.identity.directory import Directory
from cairn.services.logs.log_writer import Logbook
from cairn.services.models import KnownModels
from cairn.services.notifications.outbox import Notices
from cairn.services.pipelines.service import CarriedOut, Pipelines
from cairn.services.reading import Reading
from cairn.services.retention import Days, Retention
from cairn.services.rework.service import Reworks
from cairn.services.rollbacks.service import Rollbacks
from cairn.services.rules.active_rules import RulesInForce
from cairn.services.rules.backtests import Backtests
from cairn.services.rules.queries.rule_reader import RuleReading
from cairn.services.rules.rules_file import NAME as RULES
from cairn.services.rules.service import Rules
from cairn.services.runs.executions import Executions
from cairn.services.runs.service import Runs
from cairn.services.secrets import Secrets
from cairn.services.sign_in.authentication import Access
from cairn.store import Database


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
    tree: Tree
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
            adapters.doubts(self.settings),
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


def _import(module: str) -> None:
    """A module of a user's may fail in any way: what is told is one line."""
    try:
        importlib.import_module(module)
    except Exception as error:
        raise ImportError(f"{module}: {type(error).__name__}: {error}", name=module) from error


def build(
    settings: Settings,
    *,
    functions: FunctionRegistry = function,
    clock: Clock | None = None,
    models: Models | None = None,
) -> Cairn:
    """Open the database, bring it up to date, and wire everything. Nothing runs yet: see `worker`."""
    for module in ("cairn.runners.samples.functions", *settings.functions):
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
    access = Access(database, clock, directory, adapters.shown(settings.admin_token))
    model_rules = adapters.model_rules(settings)
    untold = (*settings.secret_values, *keys_in(os.environ, model_rules.providers))
    secrets = Secrets(acts, keys_of(adapters.shown(settings.secret_key), settings.data_dir.resolve()), untold)
    secrets.remember()
    logbook = Logbook(database, hub, clock, secrets.mask_remembered)
    projection = Projection(database, tree, logbook)
    rules_in_force = RulesInForce(database, plans, secrets.mask)
    effects = Effects(database, projection, hub)
    engine = Engine(database, jobs, plans, effects, clock, rules_in_force.judge, Notices(jobs))
    ways = adapters.outward(settings, clock, secrets)
    mending = Mending(database, plans, projection, clock)
    keeper = Keeper(database, engine, projection, mending, clock)
    limits = RunnerLimits(
        max_payload_bytes=settings.max_payload_bytes,
        max_file_bytes=settings.max_file_bytes,
        max_context_length=settings.max_context_length,
    )
    models = models or adapters.open_models(settings, model_rules, secrets)
    sandbox = BestSandbox(settings.data_dir.resolve())
    script_rules = adapters.script_rules(settings)
    agent_rules = adapters.agent_rules(settings, secrets)
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
        tree=tree,
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
        accounts=open_accounts(acts, access, adapters.providers(settings, secrets)),
        directory=directory,
        secrets=secrets,
        idempotency=Idempotency(database, clock),
        reading=Reading(database, plans, engine, briefing),
        corrections=Corrections(database, modifying, clock),
        comments=Comments(engine),
        batches=Batches(approvals),
    )
