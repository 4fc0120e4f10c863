"""Scripts for the simulated model: when a step fits, and what is then done. Users write them for their own tests."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from cairn.documents import canonical
from cairn.ports.models import ModelCallContext, ModelErrorKind

REMEMBERED = 10_000  # steps of executions whose calls are counted


@dataclass(frozen=True, slots=True)
class ScriptStep:
    checkpoint: str | None = None
    attempts: tuple[int, ...] = ()  # none: every one
    calls: tuple[int, ...] = ()
    when: str = ""
    fail: ModelErrorKind | None = None
    retry_after: float | None = None
    after: int = 0
    say: str | None = None
    output: tuple[Any] | None = None  # the one value, which may be null
    artifacts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    use: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> ScriptStep:
        """As it was written, and checked when it was saved."""
        return cls(
            checkpoint=given.get("checkpoint"),
            attempts=_numbers(given.get("attempt")),
            calls=_numbers(given.get("call")),
            when=str(given.get("when", "")),
            fail=ModelErrorKind(given["fail"]) if "fail" in given else None,
            retry_after=given.get("retry_after"),
            after=int(given.get("after", 0)),
            say=given.get("say"),
            output=(given["output"],) if "output" in given else None,
            artifacts=given.get("artifacts", {}),
            use=given.get("use"),
            arguments=given.get("arguments", {}),
        )

    def is_meant(self, call_context: ModelCallContext, text: str, used: Iterable[str]) -> bool:
        """All but the count of calls. A tool is used once in a conversation."""
        return (
            self.checkpoint in (None, call_context.checkpoint)
            and (not self.attempts or call_context.attempt in self.attempts)
            and self.when.lower() in text.lower()
            and (self.use is None or self.use not in used)
        )


def _numbers(given: Any) -> tuple[int, ...]:
    if given is None:
        return ()
    return tuple(cast("list[int]", given)) if isinstance(given, list) else (int(given),)


class Counts:
    """How many calls steps have fitted, by execution and attempt."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[Any, ...], int] = OrderedDict()
        self._lock = threading.Lock()

    def next(self, key: tuple[Any, ...]) -> int:
        with self._lock:
            number = self._counts.pop(key, 0) + 1
            self._counts[key] = number
            if len(self._counts) > REMEMBERED:
                self._counts.popitem(last=False)
            return number


@dataclass(frozen=True)
class SimulationScript:
    steps: Sequence[Mapping[str, Any]]
    call_context: ModelCallContext
    counts: Counts

    def step(self, text: str, used: Sequence[str]) -> ScriptStep | None:
        """The first that fits this call."""
        for given in self.steps:
            step = ScriptStep.of(given)
            if not step.is_meant(self.call_context, text, used):
                continue
            key = (self.call_context.execution_id, self.call_context.attempt, canonical(cast("Any", dict(given))))
            if not step.calls or self.counts.next(key) in step.calls:
                return step
        return None
