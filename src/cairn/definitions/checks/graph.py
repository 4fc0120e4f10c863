"""Needs and stages: that every checkpoint's turn can come."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

from cairn.definitions.authoring.references import NEEDS
from cairn.definitions.findings import Finding
from cairn.definitions.outline import CheckpointOutline, DefinitionOutline, unknown_name


def check_graph(outline: DefinitionOutline) -> Iterator[Finding]:
    group: dict[str, int] = {}  # of those that wait for one another
    for number, (cycle, together) in enumerate(_cycles(outline)):
        group |= dict.fromkeys(together, number)
        message = f"these wait for one another, so that none could ever start: {' → '.join(cycle)}"
        if len(cycle) == 2:
            message = f"{cycle[0]!r} waits for itself, so that it could never start"
        yield Finding(outline.by_key[cycle[0]].pointer("dependencies", NEEDS), message)
    for step in outline.checkpoints:
        for at, need in step.needs:
            is_told = step.key in group and group[step.key] == group.get(need)
            if not is_told and (message := _invalid_need(outline, step, need)):
                yield Finding(step.pointer("dependencies", NEEDS, at), message)
    yield from _check_stages(_in_order(outline))


def _invalid_need(outline: DefinitionOutline, step: CheckpointOutline, need: str) -> str | None:
    if need not in outline.by_key:
        return unknown_name("checkpoint", need, [key for key in outline.by_key if key != step.key])
    if not outline.comes_before(need, step):
        return f"{step.key!r} needs {need!r}, which comes later: put {need!r} before it"
    return None


def _cycles(outline: DefinitionOutline) -> Iterator[tuple[list[str], set[str]]]:
    """A shortest circle of needs, and all that wait for one another around it; each such group once."""
    needs = {step.key: [need for _, need in step.needs if need in outline.by_key] for step in _in_order(outline)}
    needed_by: dict[str, list[str]] = {key: [] for key in needs}
    for key, named in needs.items():
        for need in named:
            needed_by[need].append(key)
    told: set[str] = set()
    for key in needs:
        if key in told:
            continue
        before = _reached(key, needs)
        if key in before:
            together = before.keys() & _reached(key, needed_by).keys()
            told |= together
            yield _cycle(key, before), together


def _reached(start: str, edges: dict[str, list[str]]) -> dict[str, str]:
    """Everything that the edges lead to, each with where it was reached from first."""
    found: dict[str, str] = {}
    left = deque([start])
    while left:
        key = left.popleft()
        for other in edges[key]:
            if other not in found:
                found[other] = key
                left.append(other)
    return found


def _cycle(key: str, before: dict[str, str]) -> list[str]:
    way = [key, before[key]]
    while way[-1] != key:
        way.append(before[way[-1]])
    return way[::-1]


def _in_order(outline: DefinitionOutline) -> list[CheckpointOutline]:
    return sorted(outline.by_key.values(), key=lambda step: step.position)


def _check_stages(steps: list[CheckpointOutline]) -> Iterator[Finding]:
    stages: dict[str, list[CheckpointOutline]] = {}
    for step in steps:
        stages.setdefault(step.stage, []).append(step)
    for stage, members in stages.items():
        yield from _check_stage(stage, members, steps)


def _check_stage(stage: str, members: list[CheckpointOutline], steps: list[CheckpointOutline]) -> Iterator[Finding]:
    single = [step for step in members if "stage" not in step.document]
    for before, step in pairwise(members):
        if single:
            message = f"{stage!r} is the key of a checkpoint that is a stage of its own: rename the stage"
            yield Finding((step if before in single else before).pointer("stage"), message)
        elif steps.index(step) != steps.index(before) + 1:
            message = f"the members of a stage stand side by side: move {step.key!r} up to {before.key!r}"
            yield Finding(step.pointer("stage"), message)
    for step in members:
        if step.decides and len(members) > 1:
            others = ", ".join(repr(other.key) for other in members if other is not step)
            message = f"a checkpoint that decides is alone in its stage; {stage!r} also has {others}"
            yield Finding(step.pointer("decides"), message)
