"""Scripts for tests, run by the real runner in each sandbox."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cairn.adapters.sandbox.bubblewrap import BubblewrapSandbox
from cairn.adapters.sandbox.plain_process import PlainSandbox
from cairn.core.execution import Failure
from cairn.documents import decode_json
from cairn.ports import (
    Errored,
    InvalidResult,
    Outcome,
    ProcessLimits,
    Produced,
    RecordedCall,
    Sandbox,
    SandboxLevel,
    WorkOrder,
)
from cairn.runners.limits import RunnerLimits
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.runners.scripts.runner import ScriptRunner
from tests.isolation import PATIENCE
from tests.runners.work_orders import WorkOutput, checkpoint, stored, work

LIMITS = ProcessLimits(memory_mb=512, processes=16, open_files=64, file_size_mb=8)


@dataclass
class Bench:
    """A sandbox with its own folder, and shortcuts to use it."""

    folder: Path
    sandbox: Sandbox
    policy: ScriptPolicy = field(default_factory=lambda: ScriptPolicy(level=SandboxLevel.PROCESS, limits=LIMITS))
    limits: RunnerLimits = field(default_factory=RunnerLimits)
    output: WorkOutput = field(default_factory=WorkOutput)
    created: int = 0

    @property
    def runner(self) -> ScriptRunner:
        return ScriptRunner(self.sandbox, self.policy, self.limits)

    def work(
        self,
        source: str,
        *,
        outputs: Iterable[str] = ("out.json",),
        config: dict[str, Any] | None = None,
        scripts: dict[str, str] | None = None,
        calls: tuple[RecordedCall, ...] = (),
        fields: dict[str, Any] | None = None,
        **more: Any,
    ) -> WorkOrder:
        """Create a work order for a script. The same `name` uses the same folder again."""
        self.created += 1
        named = more.pop("name", f"execution-{self.created}")
        workspace = self.folder / named / "workspace"
        workspace.mkdir(parents=True, exist_ok=True)
        written = {"script_source": source, **(config or {})}
        if scripts is not None:
            written.pop("script_source")
        definition = checkpoint(
            execution={"mode": "script", "script_config": written}, outputs=list(outputs), **(fields or {})
        )
        order = work(definition, output=self.output, workspace=workspace, **more)
        files = {path: stored(path, "", text) for path, text in (scripts or {}).items()}
        return replace(order, execution_id=named, scripts=files, calls=calls)

    async def run(self, source: str, **more: Any) -> Outcome:
        return await self.runner.run(self.work(source, **more))

    async def value(self, body: str, **more: Any) -> Any:
        """Run a function with this body and return its value."""
        outcome = await self.run(function(body), **more)
        assert isinstance(outcome, Produced), (str(outcome)[:2000], self.output.lines[:20])
        data = outcome.artifacts[0].read()
        return decode_json(data, max_bytes=max(len(data), 1))

    async def failure(self, source: str, **more: Any) -> Failure:
        outcome = await self.run(source, **more)
        assert isinstance(outcome, Errored | InvalidResult), outcome
        return outcome.error

    def messages(self, *levels: str) -> list[str]:
        return [message for level, message, _ in self.output.lines if not levels or level in levels]


def function(body: str) -> str:
    """Return a script whose `main` function has this body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"import os, socket, subprocess, sys, time\n\n\ndef main(ctx, **parameters):\n{lines}\n"


def make_sandbox(level: str, app: Path) -> Sandbox:
    sandbox = BubblewrapSandbox(app) if level == "bubblewrap" else PlainSandbox(app)
    reached = sandbox.probe()
    assert reached.level == level, reached.reason  # bubblewrap comes with scripts/system-packages
    return sandbox


def alive(marks: str, server: int | None = None) -> list[str]:
    """Return command lines of live processes of a server whose environment contains these characters."""
    found: list[str] = []
    own = f":{server or os.getpid()}:".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            environment = (folder / "environ").read_bytes()
            if own in environment and marks.encode() in environment:
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def running(mark: str) -> list[int]:
    """Return processes with the mark in their command line, or as a value in their environment."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                content = b"\0".join((folder / name).read_bytes() for name in ("cmdline", "environ"))
            except OSError:
                continue
            if mark.encode() in (part.rpartition(b"=")[2] for part in content.split(b"\0")):
                found.append(int(folder.name))
    return found


def wait_until(probe: Any, seconds: float = PATIENCE) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := probe()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found
