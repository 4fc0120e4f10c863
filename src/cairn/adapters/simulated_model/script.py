"""Scripts for the simulated model, which users write to test their own pipelines."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from cairn.documents import canonical
from cairn.ports.models import ModelCallContext, ModelErrorKind

MAX_COUNTS = 10_000


@dataclass(frozen=True, slots=True)
class ScriptStep:
    checkpoint: str | None = None
    attempts: tuple[int, ...] = ()  # empty: every attempt
    calls: tuple[int, ...] = ()  # empty: every call
    when: str = ""
    fail: ModelErrorKind | None = None
    retry_after: float | None = None
    after: int = 0
    say: str | None = None
    output: tuple[Any] | None = None  # in a tuple, because the value can be null
    artifacts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    use: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> ScriptStep:
        """Parse a step from a definition or the simulation file, which are already validated."""
        return cls(
            checkpoint=raw.get("checkpoint"),
            attempts=_numbers(raw.get("attempt")),
            calls=_numbers(raw.get("call")),
            when=str(raw.get("when", "")),
            fail=ModelErrorKind(raw["fail"]) if "fail" in raw else None,
            retry_after=raw.get("retry_after"),
            after=int(raw.get("after", 0)),
            say=raw.get("say"),
            output=(raw["output"],) if "output" in raw else None,
            artifacts=raw.get("artifacts", {}),
            use=raw.get("use"),
            arguments=raw.get("arguments", {}),
        )

    def matches(self, call_context: ModelCallContext, text: str, used_tools: Iterable[str]) -> bool:
        """Check every condition except the call number. A step uses its tool once per conversation."""
        return (
            self.checkpoint in (None, call_context.checkpoint)
            and (not self.attempts or call_context.attempt in self.attempts)
            and self.when.lower() in text.lower()
            and (self.use is None or self.use not in used_tools)
        )


def _numbers(raw: Any) -> tuple[int, ...]:
    if raw is None:
        return ()
    return tuple(cast("list[int]", raw)) if isinstance(raw, list) else (int(raw),)


class MatchCounts:
    """The number of calls that each step has matched, per execution and attempt. Old entries are dropped."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[Any, ...], int] = OrderedDict()
        self._lock = threading.Lock()

    def increment(self, key: tuple[Any, ...]) -> int:
        with self._lock:
            count = self._counts.pop(key, 0) + 1
            self._counts[key] = count
            if len(self._counts) > MAX_COUNTS:
                self._counts.popitem(last=False)
            return count


@dataclass(frozen=True)
class SimulationScript:
    steps: Sequence[Mapping[str, Any]]
    call_context: ModelCallContext
    counts: MatchCounts

    def matching_step(self, text: str, used_tools: Sequence[str]) -> ScriptStep | None:
        """Return the first step that matches this call."""
        for raw in self.steps:
            step = ScriptStep.parse(raw)
            if not step.matches(self.call_context, text, used_tools):
                continue
            key = (self.call_context.execution_id, self.call_context.attempt, canonical(cast("Any", dict(raw))))
            if not step.calls or self.counts.increment(key) in step.calls:
                return step
        return None
