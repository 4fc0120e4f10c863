"""Build every service from the settings."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass

from cairn.adapters.clock import SystemClock
from cairn.adapters.jobs.dbos_engine import DbosJobs
from cairn.adapters.key_file import encryption_keys
from cairn.adapters.models.providers import keys_in
from cairn.adapters.sandbox.best_available import BestSandbox
from cairn.bootstrap import adapters
from cairn.bootstrap.identity import Identity, build_identity
from cairn.bootstrap.notifications import Notifications, build_notifications
from cairn.config import Settings
from cairn.definitions import DefinitionLimits
from cairn.files import Tree
from cairn.ports import Clock, HttpClient, JobEngine, Mailer, Sandbox, SandboxLevel
from cairn.ports.models import ModelCatalogue
from cairn.runners import FunctionRegistry, RunnerLimits, RunnerRegistry, function, make_runners
from cairn.services.actions.execution import ActionExecutor
from cairn.services.actions.modifications import ActionModifications
from cairn.services.actions.queries import CorrectionQueries
from cairn.services.actions.transports import ActionTransports
from cairn.services.agent_library.queries import AgentLibraryQueries
from cairn.services.agent_library.service import AgentLibraryService
from cairn.services.approvals.batches import ApprovalBatches
from cairn.services.approvals.comments import ApprovalComments
from cairn.services.approvals.form_answers import FormAnswers
from cairn.services.approvals.queries.approval_queries import ApprovalQueries
from cairn.services.approvals.service import ApprovalService
from cairn.services.approvals.uploads import UploadService
from cairn.services.artifacts.queries import ArtifactQueries
from cairn.services.conversations.queries import ConversationQueries
from cairn.services.conversations.service import ConversationService
from cairn.services.costs.budgets import BudgetCache, Budgets
from cairn.services.costs.price_check import PriceCheck
from cairn.services.costs.queries import CostQueries
from cairn.services.dispatch.contexts import ContextQueries
from cairn.services.dispatch.lanes import Lanes
from cairn.services.dispatch.orphans import Orphans
from cairn.services.dispatch.reports import ReportBuilder
from cairn.services.dispatch.results import ResultStore
from cairn.services.dispatch.runner_slots import RunnerSlots
from cairn.services.dispatch.timers import TimerScheduler
from cairn.services.dispatch.work_orders import WorkOrders
from cairn.services.doctor.machine import Machine
from cairn.services.doctor.service import Doctor
from cairn.services.engine.admin_changes import AdminChanges
from cairn.services.engine.after_commit import AfterCommitSteps
from cairn.services.engine.commit import Participants
from cairn.services.engine.engine import Engine
from cairn.services.engine.event_bus import EventBus
from cairn.services.engine.locks import Locks
from cairn.services.engine.plans import DefinitionCache
from cairn.services.events.queries import EventQueries
from cairn.services.folders.folder_repair import FolderRepair
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.folders.recovery import FileRecovery
from cairn.services.folders.system_log import SystemLog
from cairn.services.idempotency import IdempotencyKeys
from cairn.services.identity.directory import Directory
from cairn.services.logs.log_writer import LogWriter
from cairn.services.logs.queries import LogQueries
from cairn.services.models import ModelService
from cairn.services.notifications.outbox import NotificationOutbox
from cairn.services.notifications.queries import NotificationQueries
from cairn.services.pipelines.definition_texts import DefinitionQueries
from cairn.services.pipelines.queries import PipelineQueries
from cairn.services.pipelines.service import PipelineService, RunnerSupport
from cairn.services.retention import Retention, RetentionDays
from cairn.services.rework.queries.rework_queries import ReworkQueries
from cairn.services.rework.service import ReworkService
from cairn.services.rollbacks.queries import RollbackQueries
from cairn.services.rollbacks.records import FailureRollbackWrite
from cairn.services.rollbacks.service import RollbackService
from cairn.services.rules.active_rules import ActiveRules
from cairn.services.rules.backtests import Backtests
from cairn.services.rules.queries.rule_queries import RuleQueries
from cairn.services.rules.rule_names import rule_names_reader
from cairn.services.rules.rules_file import FILENAME as RULES_FILE
from cairn.services.rules.service import RuleService
from cairn.services.runs.executions import ExecutionService
from cairn.services.runs.queries.run_queries import ExecutionQueries, RunQueries
from cairn.services.runs.service import RunService
from cairn.services.runs.stream import RunStream
from cairn.services.secrets import SecretStore
from cairn.services.sign_in.authentication import Authentication
from cairn.store import Database


@dataclass(frozen=True)
class AppServices:
    """Everything that the API, the command line and the worker use."""

    settings: Settings
    database: Database
    clock: Clock
    jobs: JobEngine
    event_bus: EventBus
    engine: Engine
    runners: RunnerRegistry
    sandbox: Sandbox
    models: ModelCatalogue
    model_service: ModelService
    mailer: Mailer
    http_client: HttpClient
    notifications: Notifications
    work_orders: WorkOrders
    log_writer: LogWriter
    conversations: ConversationService
    lanes: Lanes
    timers: TimerScheduler
    orphans: Orphans
    folder_sync: FolderSync
    system_log: SystemLog
    retention: Retention
    tree: Tree
    folder_repair: FolderRepair
    agent_library: AgentLibraryService
    pipelines: PipelineService
    runs: RunService
    executions: ExecutionService
    approvals: ApprovalService
    action_modifications: ActionModifications
    rollbacks: RollbackService
    rework: ReworkService
    rules: RuleService
    backtests: Backtests
    uploads: UploadService
    authentication: Authentication
    identity: Identity
    directory: Directory
    secrets: SecretStore
    idempotency: IdempotencyKeys
    comments: ApprovalComments
    batches: ApprovalBatches
    agent_library_queries: AgentLibraryQueries
    approval_queries: ApprovalQueries
    artifact_queries: ArtifactQueries
    context_queries: ContextQueries
    conversation_queries: ConversationQueries
    correction_queries: CorrectionQueries
    cost_queries: CostQueries
    definition_queries: DefinitionQueries
    event_queries: EventQueries
    execution_queries: ExecutionQueries
    log_queries: LogQueries
    notification_queries: NotificationQueries
    pipeline_queries: PipelineQueries
    rework_queries: ReworkQueries
    rollback_queries: RollbackQueries
    rule_queries: RuleQueries
    run_queries: RunQueries
    run_stream: RunStream

    @property
    def doctor(self) -> Doctor:
        machine = Machine(
            self.settings.data_dir.resolve(),
            adapters.configuration_warnings(self.settings),
            SandboxLevel(self.settings.script_sandbox),
            self.sandbox.probe,
        )
        return Doctor(
            self.database,
            self.folder_repair,
            self.event_queries,
            self.retention,
            self.jobs,
            self.clock,
            machine,
            self.rules,
            self.secrets,
            self.model_service,
        )

    def close(self) -> None:
        self.event_bus.close()
        self.database.close()


def _import(module: str) -> None:
    """Import a user's module, which may raise anything. Report it in one line."""
    try:
        importlib.import_module(module)
    except Exception as error:
        raise ImportError(f"{module}: {type(error).__name__}: {error}", name=module) from error


def build(
    settings: Settings,
    *,
    functions: FunctionRegistry = function,
    clock: Clock | None = None,
    models: ModelCatalogue | None = None,
) -> AppServices:
    """Open and migrate the database, and build all services. `Worker` starts them."""
    for module in ("cairn.runners.samples.functions", *settings.functions):
        _import(module)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    clock = clock or SystemClock()
    database = Database(
        settings.effective_database_url,
        synchronous=settings.db_synchronous,
        pool_size=settings.db_pool_size,
        timeout_seconds=settings.db_timeout_seconds,
    )
    try:
        database.migrate()
    except Exception:
        database.close()
        raise
    tree = Tree(settings.data_dir.resolve() / "pipelines")
    jobs = DbosJobs(settings.effective_database_url, database.system_engine, poll_seconds=settings.poll_seconds)
    event_bus, plans = EventBus(), DefinitionCache()
    admin_changes, directory = AdminChanges(database, clock, event_bus), Directory(clock)
    authentication = Authentication(database, clock, directory, adapters.reveal(settings.admin_token))
    model_policy = adapters.model_policy(settings)
    masked_values = (*settings.secret_values, *keys_in(os.environ, model_policy.providers))
    keys = encryption_keys(adapters.reveal(settings.secret_key), settings.data_dir.resolve())
    secrets = SecretStore(admin_changes, keys, masked_values)
    secrets.load()
    log_writer = LogWriter(database, event_bus, clock, secrets.mask_loaded)
    locks = Locks()
    folder_sync = FolderSync(database, tree, log_writer, locks)
    active_rules = ActiveRules(database, plans, secrets.mask)
    budgets = Budgets(plans, clock, BudgetCache(is_exclusive=database.kind == "sqlite"))
    steps, outbox = AfterCommitSteps(), NotificationOutbox(jobs)
    engine = Engine(
        database,
        jobs,
        plans,
        clock,
        locks,
        Participants(
            active_rules,
            budgets,
            outbox,
            writes=(FailureRollbackWrite(),),
            synced_revision=folder_sync.pop_synced,
            after_commit=steps.run,
        ),
    )
    outbound = adapters.outbound_ports(settings, clock, secrets)
    recovery = FileRecovery(database, plans, folder_sync, clock)
    folder_repair = FolderRepair(database, engine, folder_sync, recovery, clock)
    limits = RunnerLimits(
        max_payload_bytes=settings.max_payload_bytes,
        max_file_bytes=settings.max_file_bytes,
        max_context_length=settings.max_context_length,
    )
    models = models or adapters.model_catalogue(settings, model_policy, secrets)
    sandbox = BestSandbox(settings.data_dir.resolve())
    script_policy = adapters.script_policy(settings)
    agent_policy = adapters.agent_policy(settings, secrets)
    runners = make_runners(limits, functions, sandbox, script_policy, models, agent_policy, outbound.web)
    modes = frozenset(mode.value for mode in runners)
    form_answers = FormAnswers(database, plans)
    action_modifications = ActionModifications(database, plans)
    approvals = ApprovalService(engine, form_answers, action_modifications)
    conversations = ConversationService(engine, budgets, event_bus, secrets)
    agent_library = AgentLibraryService(admin_changes, agent_policy.mcp_servers.keys())
    work_orders = WorkOrders(database, plans, tree, log_writer, limits, conversations, agent_library)
    definition_limits = DefinitionLimits(
        max_checkpoints=settings.max_checkpoints,
        max_timeout_minutes=settings.max_checkpoint_timeout_minutes,
        max_auto_retries=settings.max_retry_attempts,
    )
    lanes = Lanes(
        engine,
        work_orders,
        ReportBuilder(work_orders, ResultStore(database)),
        runners,
        ActionExecutor(engine, ActionTransports(database, outbound.mailer, outbound.web), outbox.release),
        RunnerSlots(settings.max_concurrent_executions, settings.script_slots, settings.max_concurrent_agents),
    )
    timers = TimerScheduler(engine, lanes)
    notifications = build_notifications(admin_changes, engine, jobs, directory, outbound, secrets, settings.base_url)
    # Folders are synced before lanes and timers wake, because runners read them.
    steps.register(budgets.cache, notifications.courier, lanes.stopper, folder_sync, lanes, timers, event_bus)
    rules = RuleService(
        database,
        clock,
        event_bus,
        settings.data_dir.resolve() / RULES_FILE,
        directory.count_deciders,
        rule_names_reader(clock),
    )
    rollbacks, rework = RollbackService(engine), ReworkService(engine)
    return AppServices(
        settings=settings,
        database=database,
        clock=clock,
        jobs=jobs,
        event_bus=event_bus,
        engine=engine,
        runners=runners,
        sandbox=sandbox,
        models=models,
        model_service=ModelService(models, tuple(settings.model_fallbacks)),
        mailer=outbound.mailer,
        http_client=outbound.web,
        notifications=notifications,
        work_orders=work_orders,
        log_writer=log_writer,
        conversations=conversations,
        lanes=lanes,
        timers=timers,
        orphans=Orphans(engine, jobs, lanes),
        folder_sync=folder_sync,
        system_log=SystemLog(database, tree, max_bytes=settings.log_file_max_bytes, backups=settings.log_backup_count),
        retention=Retention(
            engine,
            folder_sync,
            jobs,
            RetentionDays(
                settings.archive_retention_days,
                settings.error_retention_days,
                settings.test_retention_days,
                settings.delivery_retention_days,
            ),
        ),
        tree=tree,
        folder_repair=folder_repair,
        agent_library=agent_library,
        pipelines=PipelineService(
            engine,
            folder_sync,
            recovery,
            event_bus,
            folder_repair,
            limits=definition_limits,
            functions=functions,
            support=RunnerSupport(modes, models, script_policy, agent_policy, agent_library.current_agents),
        ),
        runs=RunService(engine, folder_sync, modes=modes, max_payload_bytes=settings.max_payload_bytes),
        executions=ExecutionService(engine, approvals),
        approvals=approvals,
        action_modifications=action_modifications,
        rollbacks=rollbacks,
        rework=rework,
        rules=rules,
        backtests=Backtests(database, plans, active_rules),
        uploads=UploadService(database, clock, max_bytes=settings.max_file_bytes),
        authentication=authentication,
        identity=build_identity(admin_changes, authentication, adapters.identity_providers(settings, secrets)),
        directory=directory,
        secrets=secrets,
        idempotency=IdempotencyKeys(database, clock),
        comments=ApprovalComments(engine),
        batches=ApprovalBatches(approvals),
        agent_library_queries=AgentLibraryQueries(database),
        approval_queries=ApprovalQueries(engine, clock),
        artifact_queries=ArtifactQueries(database),
        context_queries=ContextQueries(engine, work_orders),
        conversation_queries=ConversationQueries(database, plans),
        correction_queries=CorrectionQueries(database, clock),
        cost_queries=CostQueries(database, budgets),
        definition_queries=DefinitionQueries(database, plans),
        event_queries=EventQueries(database),
        execution_queries=ExecutionQueries(engine, clock),
        log_queries=LogQueries(database),
        notification_queries=NotificationQueries(database),
        pipeline_queries=PipelineQueries(database),
        rework_queries=ReworkQueries(engine, rework),
        rollback_queries=RollbackQueries(engine, rollbacks),
        rule_queries=RuleQueries(database, active_rules, rules.file, clock),
        run_queries=RunQueries(engine, budgets, PriceCheck(models, plans, agent_library.resolve_for_run), clock),
        run_stream=RunStream(database, clock),
    )
