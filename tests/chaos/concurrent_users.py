"""Many hands at once: people who do whatever can be done to a few runs, without looking at what the others do."""

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


class Hands:
    """What they were answered, and what was wrong with that."""

    def __init__(self, server: Server, pipelines: dict[str, Json]) -> None:
        self.server = server
        self.pipelines = pipelines  # their definitions by id
        self.answers = Counter[int]()
        self.faults: list[str] = []
        self._lock = threading.Lock()
        self._over = threading.Event()

    @contextmanager
    def at_work(self, count: int, seed: int) -> Generator[None]:
        threads = [threading.Thread(target=self._work, args=(f"{seed}/{number}",)) for number in range(count)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def _work(self, seed: str) -> None:
        hand = Hand(self, random.Random(seed))
        while not self._over.is_set():
            try:
                hand.act()
            except Exception as error:  # noqa: BLE001 - told with the rest
                self.note(f"a hand broke off: {error!r}")

    def note(self, fault: str) -> None:
        with self._lock:
            self.faults.append(fault)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer; nothing while the server is away, or where it refuses, which it has to explain."""
        try:
            status, data = self.server.ask(method, path, body, seconds=60)
        except TimeoutError:
            self.note(f"{method} {path} was not answered")
            return None
        except (urllib.error.URLError, ConnectionError, http.client.HTTPException):
            time.sleep(0.05)  # it was killed
            return None
        with self._lock:
            self.answers[status] += 1
        if status < 400:
            return json.loads(data)
        if status >= 500 or not json.loads(data).get("detail"):
            self.note(f"{method} {path} {body}: {status} {data[:500]!r}")
        return None


class Hand:
    def __init__(self, hands: Hands, chance: random.Random) -> None:
        self._ask = hands.ask
        self._pipelines = hands.pipelines
        self._chance = chance
        self._acts: Sequence[Callable[[], None]] = (
            *[self._start] * 10,
            *[self._command_run] * 18,
            *[self._roll_back] * 6,
            *[self._undo] * 5,
            *[self._decide] * 20,
            *[self._command_execution] * 35,
            self._define,
            *[self._delete] * 2,
            *[self._look] * 5,
            *[self._repair] * 2,
        )

    def act(self) -> None:
        self._chance.choice(self._acts)()

    def _likely(self, probability: float) -> bool:
        return self._chance.random() < probability

    def _pipeline(self) -> str:
        return self._chance.choice(list(self._pipelines))

    def _run(self) -> str | None:
        """Mostly one of the newest, which the others are at as well."""
        found = self._items("/api/runs?limit=20")
        return self._chance.choice(found[:3] if self._likely(0.7) else found)["run_id"] if found else None

    def _items(self, path: str) -> list[Json]:
        answer = self._ask("GET", path)
        return answer["items"] if answer else []

    # ---- what they do --------------------------------------------------------------------------------
    def _start(self) -> None:
        start, test = self._likely(0.9), self._likely(0.15)
        self._ask("POST", "/api/runs", {"pipeline_id": self._pipeline(), "start": start, "test": test})

    def _command_run(self) -> None:
        command = self._chance.choice(("pause", "resume", "resume", "cancel", "retry", "restart", "start"))
        if run := self._run():
            self._ask("POST", f"/api/runs/{run}/{command}")

    def _roll_back(self) -> None:
        source, target = self._run(), self._run()
        if source is None or target is None:
            return
        wanted: Json = {"rollback_type": "run_level", "source_run_id": source, "target_run_id": target}
        if self._likely(0.7):
            position = self._chance.randrange(-1, 3)
            wanted = {
                "rollback_type": "checkpoint_level",
                "source_run_id": source,
                "target_checkpoint_position": position,
            }
        self._ask("POST", "/api/rollback/preview", wanted)
        self._ask("POST", "/api/rollback", wanted)

    def _undo(self) -> None:
        if found := self._items("/api/rollback?limit=20"):
            self._ask("POST", f"/api/rollback/{self._chance.choice(found)['rollback_id']}/undo")

    def _decide(self) -> None:
        found = self._items("/api/approvals?status=pending&limit=30")
        if not found:
            return
        one = self._chance.choice(found)
        if one["kind"] == "input":
            self._ask("POST", f"/api/executions/{one['execution_id']}/submit", {"fields": {"text": "Hello"}})
        elif self._likely(0.2):
            items = [{"approval_id": each["approval_id"], "digest": each["digest"]} for each in found[:5]]
            self._ask("POST", "/api/approvals/batch", {"decision": "approve", "items": items})
        else:
            decision = self._chance.choice(("approve", "approve", "approve", "revise", "reject"))
            body = {"digest": one["digest"], "feedback": "By chance."}
            self._ask("PUT", f"/api/approvals/{one['approval_id']}/{decision}", body)

    def _command_execution(self) -> None:
        run = self._run()
        found = self._items(f"/api/runs/{run}/checkpoints?limit=50") if run else []
        if not found:
            return
        execution = self._chance.choice(found)["execution_id"]
        command = self._chance.choice(("submit", "approve", "retry", "cancel", "revise", "rework", "rework", "rerun"))
        body: Json = {"feedback": "More.", "reason": "By chance."}
        if command == "submit":
            body = {"fields": {"text": "Hello"}}
        elif command == "rework":
            body = {"checkpoint": "first", "prompt": "Again.", "reason": "By chance."}
            self._ask("POST", f"/api/executions/{execution}/rework/preview", body)
        self._ask("POST", f"/api/executions/{execution}/{command}", None if command in {"retry", "cancel"} else body)

    def _define(self) -> None:
        pipeline = self._pipeline()
        changed = {**self._pipelines[pipeline], "pipeline_description": str(self._chance.random())}
        if self._likely(0.3):
            last = {"key": "last", "form": ["text"]}
            changed["checkpoints"] = [*self._pipelines[pipeline]["checkpoints"], last]
        self._ask("PUT", f"/api/pipelines/{pipeline}/definition?force={str(self._likely(0.5)).lower()}", changed)

    def _delete(self) -> None:
        pipeline = self._pipeline()
        self._ask("DELETE", f"/api/pipelines/{pipeline}?force={str(self._likely(0.5)).lower()}")
        self._ask("POST", f"/api/pipelines/{pipeline}/restore")

    def _look(self) -> None:
        if run := self._run():
            what = ("runs/{}", "runs/{}/lineage", "events?run_id={}", "events/verify?run_id={}")
            self._ask("GET", f"/api/{self._chance.choice(what).format(run)}")

    def _repair(self) -> None:
        self._ask("POST", "/api/doctor/repair")
