"""Concurrent users who send random requests to a few runs."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import urllib.error
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.chaos.server import Server

Json = dict[str, Any]


class ConcurrentUsers:
    """Counts the responses that the users get, and collects errors."""

    def __init__(self, server: Server, pipelines: dict[str, Json]) -> None:
        self.server = server
        self.pipelines = pipelines  # definitions by pipeline id
        self.responses = Counter[int]()
        self.errors: list[str] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    @contextmanager
    def acting(self, count: int, seed: int) -> Generator[None]:
        threads = [threading.Thread(target=self._work, args=(f"{seed}/{number}",)) for number in range(count)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()

    def _work(self, seed: str) -> None:
        user = ConcurrentUser(self, random.Random(seed))
        while not self._stopped.is_set():
            try:
                user.act()
            except Exception as error:  # noqa: BLE001 - reported with the other errors
                self.record_error(f"a user failed: {error!r}")

    def record_error(self, error: str) -> None:
        with self._lock:
            self.errors.append(error)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Return the response, or None if the server is down or rejects the request. It must explain a rejection."""
        try:
            status, data = self.server.request(method, path, body, seconds=60)
        except TimeoutError:
            self.record_error(f"{method} {path} got no response")
            return None
        except (urllib.error.URLError, ConnectionError, http.client.HTTPException):
            time.sleep(0.05)  # the server was killed
            return None
        with self._lock:
            self.responses[status] += 1
        if status < 400:
            return json.loads(data)
        if status >= 500 or not json.loads(data).get("detail"):
            self.record_error(f"{method} {path} {body}: {status} {data[:500]!r}")
        return None


class ConcurrentUser:
    def __init__(self, users: ConcurrentUsers, chance: random.Random) -> None:
        self._request = users.request
        self._pipelines = users.pipelines
        self._chance = chance
        self._actions: Sequence[Callable[[], None]] = (
            *[self._start] * 10,
            *[self._command_run] * 18,
            *[self._roll_back] * 6,
            *[self._undo] * 5,
            *[self._decide] * 20,
            *[self._command_execution] * 35,
            self._define,
            *[self._delete] * 2,
            *[self._read] * 5,
            *[self._repair] * 2,
        )

    def act(self) -> None:
        self._chance.choice(self._actions)()

    def _happens(self, probability: float) -> bool:
        return self._chance.random() < probability

    def _pipeline(self) -> str:
        return self._chance.choice(list(self._pipelines))

    def _run(self) -> str | None:
        """Mostly one of the newest runs, which the other users choose as well."""
        items = self._items("/api/runs?limit=20")
        return self._chance.choice(items[:3] if self._happens(0.7) else items)["run_id"] if items else None

    def _items(self, path: str) -> list[Json]:
        page = self._request("GET", path)
        return page["items"] if page else []

    # ---- actions -------------------------------------------------------------------------------------
    def _start(self) -> None:
        start, test = self._happens(0.9), self._happens(0.15)
        self._request("POST", "/api/runs", {"pipeline_id": self._pipeline(), "start": start, "test": test})

    def _command_run(self) -> None:
        command = self._chance.choice(("pause", "resume", "resume", "cancel", "retry", "restart", "start"))
        if run := self._run():
            self._request("POST", f"/api/runs/{run}/{command}")

    def _roll_back(self) -> None:
        source, target = self._run(), self._run()
        if source is None or target is None:
            return
        spec: Json = {"rollback_type": "run_level", "source_run_id": source, "target_run_id": target}
        if self._happens(0.7):
            position = self._chance.randrange(-1, 3)
            spec = {
                "rollback_type": "checkpoint_level",
                "source_run_id": source,
                "target_checkpoint_position": position,
            }
        self._request("POST", "/api/rollback/preview", spec)
        self._request("POST", "/api/rollback", spec)

    def _undo(self) -> None:
        if items := self._items("/api/rollback?limit=20"):
            self._request("POST", f"/api/rollback/{self._chance.choice(items)['rollback_id']}/undo")

    def _decide(self) -> None:
        items = self._items("/api/approvals?status=pending&limit=30")
        if not items:
            return
        approval = self._chance.choice(items)
        if approval["kind"] == "input":
            self._request("POST", f"/api/executions/{approval['execution_id']}/submit", {"fields": {"text": "Hello"}})
        elif self._happens(0.2):
            items = [{"approval_id": item["approval_id"], "digest": item["digest"]} for item in items[:5]]
            self._request("POST", "/api/approvals/batch", {"decision": "approve", "items": items})
        else:
            decision = self._chance.choice(("approve", "approve", "approve", "revise", "reject"))
            body = {"digest": approval["digest"], "feedback": "Random."}
            self._request("PUT", f"/api/approvals/{approval['approval_id']}/{decision}", body)

    def _command_execution(self) -> None:
        run = self._run()
        items = self._items(f"/api/runs/{run}/checkpoints?limit=50") if run else []
        if not items:
            return
        execution = self._chance.choice(items)["execution_id"]
        command = self._chance.choice(("submit", "approve", "retry", "cancel", "revise", "rework", "rework", "rerun"))
        body: Json = {"feedback": "More.", "reason": "Random."}
        if command == "submit":
            body = {"fields": {"text": "Hello"}}
        elif command == "rework":
            body = {"checkpoint": "first", "prompt": "Again.", "reason": "Random."}
            self._request("POST", f"/api/executions/{execution}/rework/preview", body)
        self._request(
            "POST", f"/api/executions/{execution}/{command}", None if command in {"retry", "cancel"} else body
        )

    def _define(self) -> None:
        pipeline = self._pipeline()
        changed = {**self._pipelines[pipeline], "pipeline_description": str(self._chance.random())}
        if self._happens(0.3):
            last = {"key": "last", "form": ["text"]}
            changed["checkpoints"] = [*self._pipelines[pipeline]["checkpoints"], last]
        self._request("PUT", f"/api/pipelines/{pipeline}/definition?force={str(self._happens(0.5)).lower()}", changed)

    def _delete(self) -> None:
        pipeline = self._pipeline()
        self._request("DELETE", f"/api/pipelines/{pipeline}?force={str(self._happens(0.5)).lower()}")
        self._request("POST", f"/api/pipelines/{pipeline}/restore")

    def _read(self) -> None:
        if run := self._run():
            paths = ("runs/{}", "runs/{}/lineage", "events?run_id={}", "events/verify?run_id={}")
            self._request("GET", f"/api/{self._chance.choice(paths).format(run)}")

    def _repair(self) -> None:
        self._request("POST", "/api/doctor/repair")
