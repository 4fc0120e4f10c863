"""A whole Cairn on a folder of its own, and short ways to use it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping
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
POLL = 0.05  # seconds after which it is looked again even if nothing was announced
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{8}T\d{6}Z")
_SHORT = re.compile(r"_[0-9a-f]{8}(?=[._/])")
LOGS = ".pipeline_system/logs/"
OVER = {RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED}


def step(key: str, function: str = "number", /, parameters: Json | None = None, **more: Any) -> Json:
    """A checkpoint that calls a function and puts out one JSON artifact."""
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
    """A checkpoint that a person fills in."""
    asked = list(fields) or [{"name": key, "type": "text", "label": key.capitalize()}]
    return {"key": key, "checkpoint_name": key.capitalize(), "form": asked, "outputs": [f"{key}.json"], **more}


def retries(count: int, delay: int = 0, on_failure: str = "pause_pipeline") -> Json:
    return {"retry_config": {"max_auto_retries": count, "retry_delay_seconds": delay, "on_failure": on_failure}}


def timeout(seconds: float, on_timeout: str = "pause_pipeline") -> Json:
    return {"timeout_config": {"enabled": True, "timeout_minutes": seconds / 60, "on_timeout": on_timeout}}


def registry() -> FunctionRegistry:
    """Functions that every test may call."""
    functions = FunctionRegistry()

    @functions("number")
    async def number(ctx: Ctx, value: int = 1) -> Json:
        """The same each time, so that equal content is told from other."""
        return {"value": value}

    @functions("give_back")
    async def give_back(ctx: Ctx) -> Any:
        return ctx.inputs

    return functions


class Minds:
    """The models of an app: those of the test that is running."""

    prices = "none"

    def __init__(self) -> None:
        self.own: ModelCatalogue | None = None

    @property
    def default(self) -> str:
        return "simulated:none" if self.own is None else self.own.default

    @property
    def _own(self) -> ModelCatalogue:
        assert self.own is not None, "no test has set any models"
        return self.own

    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        call_context: ModelCallContext | None = None,
    ) -> ChosenModel:
        return self._own.choose(name, settings, call_context)

    def explain(self, error: BaseException, model: str) -> ModelError | None:
        return self._own.explain(error, model)

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:
        return self._own.cost(model, tokens)

    def ends_on(self, name: str) -> str | None:
        return None

    def providers(self) -> tuple[()]:
        return ()

    async def try_out(self, name: str | None = None) -> ModelTest:
        return await self._own.try_out(name)

    async def close(self) -> None:
        pass


@dataclass
class App:
    folder: Path
    url: str | None = None
    settings: Json = field(default_factory=dict[str, Any])
    functions: FunctionRegistry = field(default_factory=registry)
    made: list[str] = field(default_factory=list[str])  # pipelines of the test
    verified: int = 0  # the last event that was looked at
    minds: Minds = field(default_factory=Minds)

    cairn: AppServices = field(init=False)
    worker: Worker = field(init=False)
    mail: MailServer = field(init=False)  # where mail goes, and requests
    web: WebServer = field(init=False)

    # ---- its life ------------------------------------------------------------------------------------
    async def open(self) -> None:
        """As `cairn serve` does it."""
        if self.url is None:
            prepare(self.folder)
        given: Json = {"poll_seconds": 0.5, **self.settings}
        settings = Settings(data_dir=self.folder, database_url=self.url, **given)
        self.cairn = build(settings, functions=self.functions, models=self.minds)
        await self.cairn.folder_repair.repair_unfinished()
        self.worker = Worker(self.cairn)
        await self.worker.start()

    async def close(self) -> None:
        self.cairn.hub.close()
        await self.worker.stop()
        self.cairn.close()

    async def reopen(self) -> None:
        await self.close()
        await self.open()
        await self.cairn.folder_repair.repair_all()

    def does(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Let the function of this name do something else from now on."""

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
        self.made.append(saved.pipeline_id)
        return saved.pipeline_id

    async def start(self, pipeline_id: str, **options: Any) -> str:
        return (await self.cairn.runs.start(pipeline_id, actor=ADMIN, **options)).run_id

    async def done(self, pipeline_id: str, **options: Any) -> str:
        """A run that has gone to its end."""
        run_id = await self.start(pipeline_id, **options)
        await self.until_run(run_id, RunStatus.COMPLETED)
        return run_id

    async def fill(self, run_id: str, key: str, actor: Actor = ADMIN, **fields: Any) -> Commit:
        """Submit the form as soon as it is asked for."""
        asked = await self.until(lambda: self._asked(run_id, key, "input"))
        return await self.cairn.approvals.decide(asked.approval_id, "answer", fields=fields, actor=actor)

    async def decide(self, run_id: str, key: str, decision: str, feedback: str = "", actor: Actor = ADMIN) -> Commit:
        """Answer what is asked about a checkpoint, as soon as it is."""
        asked = await self.until(lambda: self._asked(run_id, key))
        return await self.cairn.approvals.decide(
            asked.approval_id, decision, digest=asked.digest, feedback=feedback, actor=actor
        )

    async def roll_back(self, run_id: str, target: int, **more: Any) -> str:
        request = RollbackSpec("checkpoint_level", run_id, target_checkpoint_position=target, **more)
        return (await self.cairn.rollbacks.roll_back(request, actor=ADMIN))[0]

    def foresee(self, request: RollbackSpec) -> RollbackPreview:
        return self.cairn.rollback_queries.preview(request, ADMIN)

    # ---- questions -----------------------------------------------------------------------------------
    def run(self, run_id: str) -> Run:
        return self.cairn.run_queries.get_run(run_id)

    def rollback(self, rollback_id: str) -> Rollback:
        return self.cairn.rollback_queries.get_rollback(rollback_id)

    def executions(self, run_id: str, *, archived: bool = False) -> list[Execution]:
        return self.cairn.execution_queries.list_executions(run_id, archived, 500, None).items

    def execution(self, run_id: str, key: str) -> Execution:
        """The last one of a checkpoint."""
        return [e for e in self.executions(run_id) if e.checkpoint_key == key][-1]

    def statuses(self, run_id: str) -> dict[str, str]:
        """Of each checkpoint, in order."""
        return {item.key: str(item.status) for item in self.run(run_id).checkpoints}

    def artifacts(self, run_id: str) -> list[Artifact]:
        return self.cairn.artifact_queries.list_artifacts(ArtifactFilter(run_id=run_id), 500, None).items

    def content(self, artifact: Artifact) -> bytes:
        return b"".join(self.cairn.artifact_queries.stream_content(artifact.checksum))

    def output(self, run_id: str, key: str) -> Any:
        """The JSON that a checkpoint has put out."""
        return decode_json(self.content(self.execution(run_id, key).artifacts_generated[-1]), max_bytes=1 << 28)

    def events(self, run_id: str | None = None, pipeline_id: str | None = None) -> list[Event]:
        """Oldest first."""
        wanted = EventFilter(run_id=run_id, pipeline_id=pipeline_id)
        return self.cairn.event_queries.list_events(wanted, 500, None).items[::-1]

    def told(self, run_id: str) -> list[str]:
        return [event.event_type for event in self.events(run_id)]

    def root(self, pipeline_id: str) -> Path:
        return self.folder / "pipelines" / pipeline_id

    def disk(self, pipeline_id: str) -> dict[str, bytes | str]:
        """Every file of a pipeline's folder but its log; links as where they lead, empty folders with a slash."""
        found = read_folder(self.root(pipeline_id))
        return {path: content for path, content in found.items() if not path.startswith(LOGS)}

    def names(self, pipeline_id: str, under: str = "") -> list[str]:
        """The files below a folder, with ids and times left out."""
        return sorted({plain(path) for path in self.disk(pipeline_id) if path.startswith(under)})

    def workspaces(self, pipeline_id: str) -> set[str]:
        return {path.name.removeprefix("exec_") for path in (self.root(pipeline_id) / ".temp").glob("exec_*")}

    # ---- waiting -------------------------------------------------------------------------------------
    async def until(self, probe: Callable[[], T | None], seconds: float = PATIENCE) -> T:
        """What the probe finds; None and False are nothing."""
        deadline = time.monotonic() + seconds
        with self.cairn.hub.subscribe() as news:
            while True:
                found = probe()
                if found is not None and found is not False:
                    return found
                assert time.monotonic() < deadline, f"not within {seconds} seconds"
                await news.wait(POLL)

    async def until_run(self, run_id: str, *wanted: RunStatus | str, seconds: float = PATIENCE) -> Run:
        """The run when it is in one of these; another end is told at once."""
        names = {RunStatus(status) for status in wanted}

        def look() -> Run | None:
            run = self.run(run_id)
            if run.status in names:
                return run
            assert run.status not in OVER, run
            return None

        return await self.until(look, seconds)

    async def until_execution(self, run_id: str, key: str, *wanted: ExecutionStatus | str) -> Execution:
        names = {ExecutionStatus(status) for status in wanted}

        def look() -> Execution | None:
            found = [e for e in self.executions(run_id) if e.checkpoint_key == key and e.status in names]
            return found[-1] if found else None

        return await self.until(look)

    async def until_quiet(self) -> None:
        """No lane is at work, and nothing waits to be done."""
        lanes = self.cairn.lanes._lanes  # pyright: ignore[reportPrivateUsage]
        async with asyncio.timeout(PATIENCE):
            while lanes:
                await asyncio.wait(tuple(lanes.values()))
                await asyncio.sleep(0)
        await self.cairn.engine.drain()
        await self.cairn.folder_sync.drain()

    def _asked(self, run_id: str, key: str, kind: str | None = None) -> Approval | None:
        names = {e.execution_id for e in self.executions(run_id) if e.checkpoint_key == key}
        asked = [a for a in self.run(run_id).pending_approvals if a.execution_id in names]
        wanted = [a for a in asked if kind in (None, a.kind)]
        return wanted[0] if wanted else None

    async def broken_since_last(self) -> list[BrokenLink]:
        """What is broken in the chains that something was added to since the last call."""
        c = t.events.c
        added = sa.select(c.chain, sa.func.max(c.id)).where(c.id > self.verified).group_by(c.chain)

        def read(connection: sa.Connection) -> list[BrokenLink]:
            chains = {row[0]: row[1] for row in connection.execute(added)}
            self.verified = max([self.verified, *chains.values()])
            return [one for chain in chains for one in verify(connection, chain).broken]

        return await self.cairn.database.aread(read)

    async def mend(self) -> RepairReport:
        """What `repair_all` does, for the pipelines of this test: the app has those of many tests."""
        found = [pipeline for pipeline in await self.cairn.folder_repair.pipelines() if pipeline in self.made]
        with patch.object(self.cairn.folder_repair, "pipelines", AsyncMock(return_value=found)):
            return await self.cairn.folder_repair.repair_all()

    async def fail_for_good(self) -> None:
        """Cancel every run that is not over."""
        for run in self.cairn.run_queries.list_runs(RunFilter(), 500, None).items:
            with suppress(CommandRefused):
                await self.cairn.runs.cancel(run.run_id, actor=ADMIN)

    # ---- what always holds ---------------------------------------------------------------------------
    async def check(self) -> None:
        """Disk equal to database, the trail whole, nothing held that nobody needs."""
        made, self.made = self.made, []
        try:
            await self.until_quiet()
        except TimeoutError:
            await self.fail_for_good()  # a run that hangs does so for every later test
            raise
        for pipeline_id in made:
            if pipeline_id in await self.cairn.folder_repair.pipelines():
                drift = self.cairn.folder_repair.find_drift(pipeline_id)
                assert drift.is_clean, drift
        assert await self.broken_since_last() == []
        assert not self.cairn.lanes._running  # pyright: ignore[reportPrivateUsage]


def plain(path: str) -> str:
    """Without ids and times."""
    return _SHORT.sub("_ID", _TIME.sub("TIME", _ID.sub("UUID", path)))


def read_folder(root: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[f"{name}/"] = ""
    return found


@asynccontextmanager
async def open_app(folder: Path, url: str | None = None, **settings: Any) -> AsyncGenerator[App]:
    app = App(folder, url, settings)
    await app.open()
    try:
        yield app
    finally:
        await app.close()
