"""Functions that send work back, as a script does: the call ends, and it is called again when that is done."""

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
class Asking:
    """Carries work out as ever, unless a checkpoint wants another one to be done again first."""

    inner: Runner
    wants: dict[str, list[NeedsRework]] = field(default_factory=dict[str, list[NeedsRework]])  # by key, each once

    def ask(self, asker: str, key: str, prompt: str = "", reason: str = "", **made: Any) -> None:
        """The asker has made these artifacts so far when it asks."""
        artifacts = tuple(ProducedFile(name, "json", encode_json(value)) for name, value in made.items())
        self.wants.setdefault(asker, []).append(NeedsRework(key, prompt, reason, artifacts))

    async def run(self, work: WorkOrder) -> Outcome:
        wanted = self.wants.get(work.checkpoint.key)
        if wanted:
            _ = work.material.input  # it has looked at what there is
            return wanted.pop(0)
        return await self.inner.run(work)


@contextmanager
def asking(app: App) -> Generator[Asking]:
    """Checkpoints of this app may ask for reworks meanwhile."""
    runners = app.cairn.runners
    inner = runners[ExecutionMode.FUNCTION]
    runners[ExecutionMode.FUNCTION] = asking = Asking(inner)
    try:
        yield asking
    finally:
        runners[ExecutionMode.FUNCTION] = inner


def code(**more: Any) -> dict[str, Any]:
    return step("code", "write_code", **more)


def writing(app: App) -> list[Any]:
    """`write_code` counts its versions; the answer is what it saw of why it was called."""
    seen: list[Any] = []

    @app.function("write_code")
    async def write_code(ctx: Ctx) -> dict[str, int]:
        why = ctx.rework
        seen.append(why and (why.prompt, why.reason, why.requested_by, dict(why.artifacts)))
        return {"version": len(seen)}

    return seen
