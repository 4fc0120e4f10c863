"""A real `cairn serve` process that tests start, stop and kill."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.databases import prepare
from tests.forked import CairnProcess, cairn
from tests.isolation import PATIENCE

TOKEN = "chaos"


class Server:
    """A data folder and the current server process on it."""

    def __init__(self, folder: Path, is_prepared: bool = True, /, **environment: str) -> None:
        """If prepared, the folder already has a migrated database."""
        self.folder = folder
        self.data = folder / "data"
        self.process: CairnProcess | None = None
        self.address = ""
        self._log = folder / "server.log"
        self._environment = {
            **os.environ,
            "CAIRN_ADMIN_TOKEN": TOKEN,
            "CAIRN_FUNCTIONS": '["chaos_functions"]',
            "CHAOS_FOLDER": str(folder),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]).strip(
                os.pathsep
            ),
            **environment,
        }
        if is_prepared:
            prepare(self.data)

    def spawn(self) -> CairnProcess:
        port = _free_port()
        self.address = f"http://127.0.0.1:{port}"
        arguments = ("serve", "--port", str(port), "--data-dir", str(self.data))
        with self._log.open("a") as log:
            self.process = CairnProcess(arguments, self._environment, stderr=log)
        return self.process

    def start(self) -> None:
        """Start the process and wait until it accepts requests."""
        for line in self.spawn().stdout:
            if "#token=" in line:
                return
        raise AssertionError(f"the server did not start:\n{self.log_tail()}")

    def log_tail(self) -> str:
        return self._log.read_text()[-3000:]

    def kill(self) -> None:
        """Kill the process with SIGKILL, as the kernel does when memory runs out."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process.close()
            self.process = None

    def stop(self) -> int:
        """Stop the process with Ctrl-C. Returns the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.wait_for_exit()

    def wait_for_exit(self) -> int:
        assert self.process is not None
        code = self.process.wait(timeout=PATIENCE)
        self.process.close()
        self.process = None
        return code

    def request(self, method: str, path: str, body: Any = None, *, seconds: float = 30) -> tuple[int, bytes]:
        """Send a request. Returns the status and the body, even of an error."""
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=seconds) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def call(self, method: str, path: str, body: Any = None, *, expect: int | None = None) -> Any:
        status, data = self.request(method, path, body)
        assert expect is None or status == expect, f"{method} {path}: {status} {data[:500]!r}"
        return json.loads(data) if data else None

    def wait_for_run(self, run_id: str, status: str, seconds: float = 60) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while True:
            run: dict[str, Any] = self.call("GET", f"/api/runs/{run_id}", expect=200)
            if run["status"] == status:
                return run
            assert time.monotonic() < deadline, f"the run is {run['status']}, not {status}: {run['checkpoints']}"
            time.sleep(0.05)

    def doctor(self) -> subprocess.CompletedProcess[str]:
        return cairn("doctor", "--data-dir", str(self.data), "--json", environment=self._environment)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
