"""The checkpoints of a run: their graph and their policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cairn.core.states import ExecutionMode, OnBlocker, OnFailure, OnInvalid


@dataclass(frozen=True, slots=True)
class CheckpointPolicy:
    """How a checkpoint is executed. An edit of the definition can change it during a run."""

    mode: ExecutionMode = ExecutionMode.AGENTIC
    requires_start_approval: bool = False
    requires_completion_approval: bool = False
    max_auto_retries: int = 0
    retry_delay: float = 5.0
    on_failure: OnFailure = OnFailure.PAUSE_PIPELINE
    timeout: float | None = None
    on_timeout: OnFailure = OnFailure.PAUSE_PIPELINE
    max_revisions: int = 3
    reuses_earlier_actions: bool = False  # an equal action that is done is not executed or asked about again
    on_invalid: OnInvalid = OnInvalid.RETRY
    max_validation_retries: int = 2
    digest: str = ""  # of the checkpoint's definition, which people see when they approve the start or fill in the form


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A node of the graph that the run started with."""

    key: str
    position: int
    stage: str
    needs: tuple[str, ...] = ()
    decides: bool = False
    id: str = ""  # checkpoint_id
    name: str = ""


@dataclass(frozen=True)
class Plan:
    """The graph that a run started with, and the newest policies, for executions created from now on."""

    checkpoints: tuple[Checkpoint, ...]
    policies: Mapping[str, CheckpointPolicy] = field(default_factory=dict[str, CheckpointPolicy])
    revision: int = 1  # of the definition that the policies come from
    auto_advance: bool = False
    run_timeout: float | None = None
    require_second_pass: bool = False
    max_restarts: int = 3
    max_rework_depth: int = 3
    max_reworks: int = 10
    max_interruptions: int = 3
    on_blocker: OnBlocker = OnBlocker.ESCALATE

    @cached_property
    def by_key(self) -> dict[str, Checkpoint]:
        return {checkpoint.key: checkpoint for checkpoint in self.checkpoints}

    def __getitem__(self, key: str) -> Checkpoint:
        return self.by_key[key]

    def policy(self, key: str) -> CheckpointPolicy:
        return self.policies.get(key) or CheckpointPolicy()

    @cached_property
    def stages(self) -> dict[str, tuple[str, ...]]:
        """Keys by stage, in order."""
        found: dict[str, list[str]] = {}
        for checkpoint in self.checkpoints:
            found.setdefault(checkpoint.stage, []).append(checkpoint.key)
        return {stage: tuple(keys) for stage, keys in found.items()}

    @cached_property
    def deciders(self) -> tuple[Checkpoint, ...]:
        return tuple(checkpoint for checkpoint in self.checkpoints if checkpoint.decides)

    @cached_property
    def predecessors(self) -> dict[str, tuple[str, ...]]:
        """For each key, the keys it directly depends on: its needs, or the stage before its own."""
        found: dict[str, tuple[str, ...]] = {}
        before: tuple[str, ...] = ()
        for keys in self.stages.values():
            found |= {key: self.by_key[key].needs or before for key in keys}
            before = keys
        return found

    @cached_property
    def prerequisites(self) -> dict[str, frozenset[str]]:
        """For each key, all keys that must be complete before it starts."""
        found: dict[str, frozenset[str]] = {}
        before: set[str] = set()
        for keys in self.stages.values():
            barrier = frozenset(before)
            for key in keys:
                own = self.by_key[key].needs
                found[key] = frozenset(own) if own else barrier
            before.update(keys)
        return found
