"""Needs and stages: that every checkpoint's turn can come (P3, P9, D33, D70)."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from cairn.definitions.checks.outline import Outline, Step, no_such
from cairn.definitions.findings import Finding
from cairn.definitions.references import NEEDS


def check_graph(outline: Outline) -> Iterator[Finding]:
    circular: set[tuple[str, str]] = set()
    for cycle in _cycles(outline):
        circular |= {(key, need) for key in cycle for need in cycle}
        message = f"these wait for one another, so that none could ever start: {' → '.join(cycle)}"
        if len(cycle) == 2:
            message = f"{cycle[0]!r} waits for itself, so that it could never start"
        yield Finding(outline.by_key[cycle[0]].at("dependencies", NEEDS), message)
    for step in outline.steps:
        for at, need in step.needs:
            if (step.key, need) not in circular and (message := _fault(outline, step, need)):
                yield Finding(step.at("dependencies", NEEDS, at), message)
    yield from _check_stages(sorted(outline.by_key.values(), key=lambda step: step.position))


def _fault(outline: Outline, step: Step, need: str) -> str | None:
    if need not in outline.by_key:
        return no_such("checkpoint", need, [key for key in outline.by_key if key != step.key])
    if not outline.comes_before(need, step):
        return f"{step.key!r} needs {need!r}, which comes later: put {need!r} before it"
    return None


def _cycles(outline: Outline) -> Iterator[list[str]]:
    """Circles of needs, each from its first checkpoint back to it; of circles that share checkpoints, one."""
    left = {key: {need for _, need in step.needs if need in outline.by_key} for key, step in outline.by_key.items()}
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            around: list[str] = error.args[1][:0:-1]
            first = around.index(min(around, key=lambda key: outline.by_key[key].position))
            yield [*around[first:], *around[:first], around[first]]
            for key in around:
                left[key] -= set(around)
        else:
            return


def _check_stages(steps: list[Step]) -> Iterator[Finding]:
    stages: dict[str, list[Step]] = {}
    for step in steps:
        stages.setdefault(step.stage, []).append(step)
    for stage, members in stages.items():
        yield from _check_stage(stage, members, steps)


def _check_stage(stage: str, members: list[Step], steps: list[Step]) -> Iterator[Finding]:
    single = [step for step in members if "stage" not in step.document]
    for before, step in pairwise(members):
        if single:
            message = f"{stage!r} is the key of a checkpoint that is a stage of its own: rename the stage"
            yield Finding((step if before in single else before).at("stage"), message)
        elif steps.index(step) != steps.index(before) + 1:
            message = f"the members of a stage stand side by side: move {step.key!r} up to {before.key!r}"
            yield Finding(step.at("stage"), message)
    for step in members:
        if step.decides and len(members) > 1:
            others = ", ".join(repr(other.key) for other in members if other is not step)
            message = f"a checkpoint that decides is alone in its stage; {stage!r} also has {others}"
            yield Finding(step.at("decides"), message)
