"""Functions that request rework. The call ends, and the function is called again when the rework has ended."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cairn.core.states import ExecutionMode
from cairn.documents import encode_json
from cairn.ports import NeedsRework, Outcome, ProducedFile, Runner, WorkOrder
from cairn.runners import Ctx
from tests.services.app import App, step


@dataclass
class ReworkRequester:
    """Runs functions, except that a checkpoint returns its next requested rework first."""

    inner: Runner
    requests: dict[str, list[NeedsRework]] = field(default_factory=dict[str, list[NeedsRework]])  # by checkpoint key

    def request(self, requester: str, key: str, prompt: str = "", reason: str = "", **artifacts: Any) -> None:
        """Let the requester ask for rework when it runs next. `artifacts` are its outputs so far, by name."""
        files = tuple(ProducedFile(name, "json", encode_json(value)) for name, value in artifacts.items())
        self.requests.setdefault(requester, []).append(NeedsRework(key, prompt, reason, files))

    async def run(self, work: WorkOrder) -> Outcome:
        pending = self.requests.get(work.checkpoint.key)
        if pending:
            _ = work.material.input  # record what the execution has read
            return pending.pop(0)
        return await self.inner.run(work)


@contextmanager
def requested_reworks(app: App) -> Generator[ReworkRequester]:
    """Let checkpoints of the app request rework within the block."""
    runners = app.cairn.runners
    inner = runners[ExecutionMode.FUNCTION]
    runners[ExecutionMode.FUNCTION] = requester = ReworkRequester(inner)
    try:
        yield requester
    finally:
        runners[ExecutionMode.FUNCTION] = inner


def code(**more: Any) -> dict[str, Any]:
    return step("code", "write_code", **more)


def versioned_code(app: App) -> list[Any]:
    """Register `write_code`, which counts its versions. Returns the reworks for which it was called."""
    seen: list[Any] = []

    @app.function("write_code")
    async def write_code(ctx: Ctx) -> dict[str, int]:
        rework = ctx.rework
        seen.append(rework and (rework.prompt, rework.reason, rework.requested_by, dict(rework.artifacts)))
        return {"version": len(seen)}

    return seen
