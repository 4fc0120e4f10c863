"""A complete Cairn on a temporary folder, with short methods for tests."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import AsyncMock, patch

import sqlalchemy as sa

from cairn.bootstrap import AppServices, build
from cairn.config import Settings
from cairn.core.errors import CommandRefused
from cairn.core.states import ExecutionStatus, RunStatus
from cairn.documents import decode_json
from cairn.ports.models import ChosenModel, ModelCallContext, ModelCatalogue, ModelError, ModelTest, TokenUsage
from cairn.runners import Ctx, FunctionRegistry
from cairn.services.actors import ADMIN, Actor
from cairn.services.approvals.views import Approval
from cairn.services.artifacts.queries import ArtifactFilter
from cairn.services.artifacts.views import Artifact
from cairn.services.engine.commit import Commit
from cairn.services.events.queries import EventFilter
from cairn.services.events.views import Event
from cairn.services.folders.folder_repair import RepairReport
from cairn.services.rollbacks.service import RollbackSpec
from cairn.services.rollbacks.views import Rollback, RollbackPreview
from cairn.services.runs.execution_views import Execution
from cairn.services.runs.queries.lists import RunFilter
from cairn.services.runs.views import Run
from cairn.store import tables as t
from cairn.store.events.verification import BrokenLink, verify
from cairn.worker import Worker
from tests.adapters.servers import MailServer, WebServer
from tests.databases import prepare
from tests.isolation import PATIENCE

Json = dict[str, Any]
T = TypeVar("T")
POLL_SECONDS = 0.05  # how often to check a condition without a change hint
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{8}T\d{6}Z")
_SHORT = re.compile(r"_[0-9a-f]{8}(?=[._/])")
LOGS = ".pipeline_system/logs/"
ENDED = {RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED}


def step(key: str, function: str = "number", /, parameters: Json | None = None, **more: Any) -> Json:
    """A checkpoint that calls a function and outputs one JSON artifact."""
    config = {"function": function, **({"parameters": parameters} if parameters else {})}
    execution = {"mode": "function", "function_config": config, **more.pop("execution", {})}
    return {
        "key": key,
        "checkpoint_name": key.replace("_", " ").capitalize(),
        "execution": execution,
        "outputs": [f"{key}.json"],
        **more,
    }


def form(key: str, *fields: Json, **more: Any) -> Json:
    """A checkpoint with a form."""
    form_fields = list(fields) or [{"name": key, "type": "text", "label": key.capitalize()}]
    return {"key": key, "checkpoint_name": key.capitalize(), "form": form_fields, "outputs": [f"{key}.json"], **more}


def retries(count: int, delay: int = 0, on_failure: str = "pause_pipeline") -> Json:
    return {"retry_config": {"max_auto_retries": count, "retry_delay_seconds": delay, "on_failure": on_failure}}


def timeout(seconds: float, on_timeout: str = "pause_pipeline") -> Json:
    return {"timeout_config": {"enabled": True, "timeout_minutes": seconds / 60, "on_timeout": on_timeout}}


def registry() -> FunctionRegistry:
    """The functions that are available in every test."""
    functions = FunctionRegistry()

    @functions("number")
    async def number(ctx: Ctx, value: int = 1) -> Json:
        """Return the same value each time, so that its content is equal."""
        return {"value": value}

    @functions("give_back")
    async def give_back(ctx: Ctx) -> Any:
        return ctx.inputs

    return functions


class SharedModels:
    """The model catalogue of a shared app. Delegates to the catalogue that the current test has set."""

    prices = "none"

    def __init__(self) -> None:
        self.current: ModelCatalogue | None = None

    @property
    def default(self) -> str:
        return "simulated:none" if self.current is None else self.current.default

    @property
    def _catalogue(self) -> ModelCatalogue:
        assert self.current is not None, "the test has not set any models"
        return self.current

    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        call_context: ModelCallContext | None = None,
    ) -> ChosenModel:
        return self._catalogue.choose(name, settings, call_context)

    def explain(self, error: BaseException, model: str) -> ModelError | None:
        return self._catalogue.explain(error, model)

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:
        return self._catalogue.cost(model, tokens)

    def unpriced_models(self, name: str | None = None, settings: Mapping[str, Any] | None = None) -> Sequence[str]:
        return self.current.unpriced_models(name, settings) if self.current is not None else ()

    def retirement_date(self, name: str) -> str | None:
        return None

    def providers(self) -> tuple[()]:
        return ()

    async def test(self, name: str | None = None) -> ModelTest:
        return await self._catalogue.test(name)

    async def close(self) -> None:
        pass


@dataclass
class App:
    folder: Path
    url: str | None = None
    settings: Json = field(default_factory=dict[str, Any])
    functions: FunctionRegistry = field(default_factory=registry)
    pipeline_ids: list[str] = field(default_factory=list[str])  # created by the current test
    last_verified_event: int = 0
    models: SharedModels = field(default_factory=SharedModels)

    cairn: AppServices = field(init=False)
    worker: Worker = field(init=False)
    mail: MailServer = field(init=False)  # receives outgoing email
    web: WebServer = field(init=False)  # receives outgoing requests

    # ---- lifecycle -----------------------------------------------------------------------------------
    async def open(self) -> None:
        """Start the services and the worker as `cairn serve` does."""
        if self.url is None:
            prepare(self.folder)
        options: Json = {"poll_seconds": 0.5, **self.settings}
        settings = Settings(data_dir=self.folder, database_url=self.url, **options)
        self.cairn = build(settings, functions=self.functions, models=self.models)
        await self.cairn.folder_repair.repair_unfinished()
        self.worker = Worker(self.cairn)
        await self.worker.start()

    async def close(self) -> None:
        self.cairn.event_bus.close()
        await self.worker.stop()
        self.cairn.close()

    async def reopen(self) -> None:
        await self.close()
        await self.open()
        await self.cairn.folder_repair.repair_all()

    def function(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function with this name. It replaces an earlier one."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self.functions.register(name, function, replace=True)
            return function

        return register

    @property
    def is_sqlite(self) -> bool:
        return self.cairn.database.kind == "sqlite"

    # ---- commands ------------------------------------------------------------------------------------
    async def pipeline(self, *checkpoints: Json, advance: bool = True, **fields: Any) -> str:
        config = {"auto_advance": advance, **fields.pop("config", {})}
        document = {"pipeline_name": "Test", "config": config, "checkpoints": list(checkpoints), **fields}
        saved = await self.cairn.pipelines.create(document, actor=ADMIN)
        self.pipeline_ids.append(saved.pipeline_id)
        return saved.pipeline_id

    async def start(self, pipeline_id: str, **options: Any) -> str:
        return (await self.cairn.runs.create(pipeline_id, actor=ADMIN, **options)).run_id

    async def run_to_completion(self, pipeline_id: str, **options: Any) -> str:
        """Start a run and wait until it has completed."""
        run_id = await self.start(pipeline_id, **options)
        await self.wait_for_run(run_id, RunStatus.COMPLETED)
        return run_id

    async def submit_form(self, run_id: str, key: str, actor: Actor = ADMIN, **fields: Any) -> Commit:
        """Submit a form as soon as the run waits for it."""
        approval = await self.wait_until(lambda: self._pending_approval(run_id, key, "input"))
        return await self.cairn.approvals.decide(approval.approval_id, "answer", fields=fields, actor=actor)

    async def decide(self, run_id: str, key: str, decision: str, feedback: str = "", actor: Actor = ADMIN) -> Commit:
        """Decide the approval of a checkpoint as soon as it is pending."""
        approval = await self.wait_until(lambda: self._pending_approval(run_id, key))
        return await self.cairn.approvals.decide(
            approval.approval_id, decision, digest=approval.digest, feedback=feedback, actor=actor
        )

    async def roll_back(self, run_id: str, target: int, **more: Any) -> str:
        spec = RollbackSpec("checkpoint_level", run_id, target_checkpoint_position=target, **more)
        return (await self.cairn.rollbacks.roll_back(spec, actor=ADMIN))[0]

    def preview_rollback(self, spec: RollbackSpec) -> RollbackPreview:
        return self.cairn.rollback_queries.preview(spec, ADMIN)

    # ---- queries -------------------------------------------------------------------------------------
    def run(self, run_id: str) -> Run:
        return self.cairn.run_queries.get_run(run_id)

    def rollback(self, rollback_id: str) -> Rollback:
        return self.cairn.rollback_queries.get_rollback(rollback_id)

    def executions(self, run_id: str, *, archived: bool = False) -> list[Execution]:
        return self.cairn.execution_queries.list_executions(run_id, archived, 500, None).items

    def execution(self, run_id: str, key: str) -> Execution:
        """The newest execution of a checkpoint."""
        return [e for e in self.executions(run_id) if e.checkpoint_key == key][-1]

    def statuses(self, run_id: str) -> dict[str, str]:
        """The status of each checkpoint, by key."""
        return {item.key: str(item.status) for item in self.run(run_id).checkpoints}

    def artifacts(self, run_id: str) -> list[Artifact]:
        return self.cairn.artifact_queries.list_artifacts(ArtifactFilter(run_id=run_id), 500, None).items

    def content(self, artifact: Artifact) -> bytes:
        return b"".join(self.cairn.artifact_queries.stream_content(artifact.checksum))

    def output(self, run_id: str, key: str) -> Any:
        """The newest JSON output of a checkpoint."""
        return decode_json(self.content(self.execution(run_id, key).artifacts_generated[-1]), max_bytes=1 << 28)

    def events(self, run_id: str | None = None, pipeline_id: str | None = None) -> list[Event]:
        """The events of a run or a pipeline, oldest first."""
        event_filter = EventFilter(run_id=run_id, pipeline_id=pipeline_id)
        return self.cairn.event_queries.list_events(event_filter, 500, None).items[::-1]

    def event_types(self, run_id: str) -> list[str]:
        return [event.event_type for event in self.events(run_id)]

    def root(self, pipeline_id: str) -> Path:
        return self.folder / "pipelines" / pipeline_id

    def folder_contents(self, pipeline_id: str) -> dict[str, bytes | str]:
        """The content of a pipeline's folder except its logs. Links have their target, empty folders end in a slash."""
        contents = read_folder(self.root(pipeline_id))
        return {path: content for path, content in contents.items() if not path.startswith(LOGS)}

    def names(self, pipeline_id: str, under: str = "") -> list[str]:
        """The files below a folder, with placeholders for ids and times."""
        return sorted({plain(path) for path in self.folder_contents(pipeline_id) if path.startswith(under)})

    def workspaces(self, pipeline_id: str) -> set[str]:
        return {path.name.removeprefix("exec_") for path in (self.root(pipeline_id) / ".temp").glob("exec_*")}

    # ---- waiting -------------------------------------------------------------------------------------
    async def wait_until(self, probe: Callable[[], T | None], seconds: float = PATIENCE) -> T:
        """Call the probe until it returns something other than None or False, and return that."""
        deadline = time.monotonic() + seconds
        with self.cairn.event_bus.subscribe() as changes:
            while True:
                result = probe()
                if result is not None and result is not False:
                    return result
                assert time.monotonic() < deadline, f"not within {seconds} seconds"
                await changes.wait(POLL_SECONDS)

    async def wait_for_run(self, run_id: str, *statuses: RunStatus | str, seconds: float = PATIENCE) -> Run:
        """Wait until the run has one of these statuses. Fails at once if it ends with another one."""
        expected = {RunStatus(status) for status in statuses}

        def probe() -> Run | None:
            run = self.run(run_id)
            if run.status in expected:
                return run
            assert run.status not in ENDED, run
            return None

        return await self.wait_until(probe, seconds)

    async def wait_for_execution(self, run_id: str, key: str, *statuses: ExecutionStatus | str) -> Execution:
        expected = {ExecutionStatus(status) for status in statuses}

        def probe() -> Execution | None:
            matches = [e for e in self.executions(run_id) if e.checkpoint_key == key and e.status in expected]
            return matches[-1] if matches else None

        return await self.wait_until(probe)

    async def wait_until_idle(self) -> None:
        """Wait until no lane is active and all commits and folders are processed."""
        lanes = self.cairn.lanes._lanes  # pyright: ignore[reportPrivateUsage]
        async with asyncio.timeout(PATIENCE):
            while lanes:
                await asyncio.wait(tuple(lanes.values()))
                await asyncio.sleep(0)
        await self.cairn.engine.drain()
        await self.cairn.folder_sync.drain()

    def _pending_approval(self, run_id: str, key: str, kind: str | None = None) -> Approval | None:
        ids = {e.execution_id for e in self.executions(run_id) if e.checkpoint_key == key}
        pending = [a for a in self.run(run_id).pending_approvals if a.execution_id in ids]
        return next((approval for approval in pending if kind in (None, approval.kind)), None)

    async def broken_links(self) -> list[BrokenLink]:
        """Broken links in the event chains that have grown since the last call."""
        c = t.events.c
        grown = sa.select(c.chain, sa.func.max(c.id)).where(c.id > self.last_verified_event).group_by(c.chain)

        def read(connection: sa.Connection) -> list[BrokenLink]:
            chains = {row[0]: row[1] for row in connection.execute(grown)}
            self.last_verified_event = max([self.last_verified_event, *chains.values()])
            return [link for chain in chains for link in verify(connection, chain).broken]

        return await self.cairn.database.aread(read)

    async def repair(self) -> RepairReport:
        """Run `repair_all` for the pipelines of this test only. A shared app has those of many tests."""
        pipelines = await self.cairn.folder_repair.active_pipelines()
        own = [pipeline_id for pipeline_id in pipelines if pipeline_id in self.pipeline_ids]
        with patch.object(self.cairn.folder_repair, "active_pipelines", AsyncMock(return_value=own)):
            return await self.cairn.folder_repair.repair_all()

    async def cancel_runs(self) -> None:
        """Cancel all runs that have not ended."""
        for run in self.cairn.run_queries.list_runs(RunFilter(), 500, None).items:
            with suppress(CommandRefused):
                await self.cairn.runs.cancel(run.run_id, actor=ADMIN)

    # ---- invariants ----------------------------------------------------------------------------------
    async def check(self) -> None:
        """Check that folders equal the database, the event chains are intact and no lane is left."""
        pipeline_ids, self.pipeline_ids = self.pipeline_ids, []
        try:
            await self.wait_until_idle()
        except TimeoutError:
            await self.cancel_runs()  # a run that hangs would make later tests hang
            raise
        for pipeline_id in pipeline_ids:
            if pipeline_id in await self.cairn.folder_repair.active_pipelines():
                drift = self.cairn.folder_repair.find_drift(pipeline_id)
                assert drift.is_clean, drift
        assert await self.broken_links() == []
        assert not self.cairn.lanes._running  # pyright: ignore[reportPrivateUsage]


def plain(path: str) -> str:
    """Replace ids and times by placeholders."""
    return _SHORT.sub("_ID", _TIME.sub("TIME", _ID.sub("UUID", path)))


def read_folder(root: Path) -> dict[str, bytes | str]:
    contents: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            contents[name] = f"-> {path.readlink()}"
        elif path.is_file():
            contents[name] = path.read_bytes()
        elif not any(path.iterdir()):
            contents[f"{name}/"] = ""
    return contents


@asynccontextmanager
async def open_app(folder: Path, url: str | None = None, **settings: Any) -> AsyncGenerator[App]:
    app = App(folder, url, settings)
    await app.open()
    try:
        yield app
    finally:
        await app.close()
