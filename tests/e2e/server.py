"""A `cairn serve` process on a free port with its own data folder."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.databases import prepare
from tests.forked import CairnProcess
from tests.isolation import PATIENCE

TOKEN = "e2e"


class Server:
    """The server, and the API as a second client."""

    def __init__(self, folder: Path, port: int = 0, **settings: str) -> None:
        self.folder = folder
        self._port = port
        self._settings = settings  # environment variables
        self.address = ""
        self.start_link = ""
        self._log = (folder / "server.log").open("w")
        self._process = self._start()

    def _start(self) -> CairnProcess:
        environment = {
            **os.environ,
            **self._settings,
            "CAIRN_ADMIN_TOKEN": TOKEN,
            "CAIRN_FUNCTIONS": '["e2e_functions"]',
            "E2E_FOLDER": str(self.folder),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
        }
        prepare(self.folder / "data")
        arguments = ("serve", "--port", str(self._port), "--data-dir", str(self.folder / "data"))
        process = CairnProcess(arguments, environment, stderr=self._log)
        for line in process.stdout:
            if line.startswith("Open "):
                self.start_link = line.removeprefix("Open ").strip()
                self.address = self.start_link.partition("/#")[0]
                return process
        raise AssertionError(f"the server did not start:\n{(self.folder / 'server.log').read_text()[-3000:]}")

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(timeout=PATIENCE)
        self._process.close()
        self._log.close()

    def call(self, method: str, path: str, body: Any = None, *, expect: int | None = None, token: str = TOKEN) -> Any:
        """Call the API. A string is sent as YAML."""
        yaml = isinstance(body, str)
        data = body.encode() if yaml else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=data,
            headers={
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/yaml" if yaml else "application/json",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                status, answer = response.status, response.read()
        except urllib.error.HTTPError as error:
            status, answer = error.code, error.read()
        assert status == expect if expect else status < 400, f"{method} {path}: {status} {answer[:500]!r}"
        return json.loads(answer) if answer else None

    def define(self, definition: str) -> str:
        """Save a definition and return the pipeline's id."""
        pipeline_id: str = self.call("POST", "/api/pipelines", definition, expect=201)["pipeline_id"]
        return pipeline_id

    def start(self, pipeline_id: str) -> str:
        """Start a run and return its id."""
        run_id: str = self.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]
        return run_id

    def run(self, run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/api/runs/{run_id}")
        return found

    def wait_for_run(self, run_id: str, status: str) -> dict[str, Any]:
        """Wait until the run has a status."""
        deadline = time.monotonic() + PATIENCE
        while (run := self.run(run_id))["status"] != status:
            assert time.monotonic() < deadline, f"the run is {run['status']}, not {status}: {run['checkpoints']}"
            time.sleep(0.05)
        return run

    def execution(self, run_id: str, position: int) -> dict[str, Any]:
        """The current execution at a position."""
        execution_id = self.run(run_id)["checkpoints"][position]["execution_id"]
        found: dict[str, Any] = self.call("GET", f"/api/executions/{execution_id}")
        return found

    def wait_for_approval(self, run_id: str, position: int, kind: str) -> dict[str, Any]:
        """Wait until the execution at a position has a pending approval of this kind, and return the execution."""
        deadline = time.monotonic() + PATIENCE
        while True:
            if self.run(run_id)["checkpoints"][position]["execution_id"] is not None:
                found = self.execution(run_id, position)
                approval: dict[str, Any] | None = found["approval"]
                if approval is not None and approval["kind"] == kind:
                    return found
            assert time.monotonic() < deadline, (
                f"checkpoint {position} has no pending {kind} approval: {self.run(run_id)}"
            )
            time.sleep(0.05)

    def open_gate(self, gate: str) -> None:
        """Create the file that `e2e.wait` waits for."""
        (self.folder / gate).touch()
