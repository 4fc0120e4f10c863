"""Check needs and stages: every checkpoint must be able to start."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import pairwise

from cairn.definitions.authoring.references import NEEDS
from cairn.definitions.findings import Finding
from cairn.definitions.outline import CheckpointOutline, DefinitionOutline, unknown_name


def check_graph(outline: DefinitionOutline) -> Iterator[Finding]:
    group: dict[str, int] = {}  # the number of each checkpoint's cycle
    for number, (cycle, members) in enumerate(_cycles(outline)):
        group |= dict.fromkeys(members, number)
        message = f"these checkpoints wait for each other and could never start: {' → '.join(cycle)}"
        if len(cycle) == 2:
            message = f"{cycle[0]!r} waits for itself and could never start"
        yield Finding(outline.by_key[cycle[0]].pointer("dependencies", NEEDS), message)
    for step in outline.checkpoints:
        for at, need in step.needs:
            is_reported = step.key in group and group[step.key] == group.get(need)
            if not is_reported and (message := _invalid_need(outline, step, need)):
                yield Finding(step.pointer("dependencies", NEEDS, at), message)
    yield from _check_stages(_in_order(outline))


def _invalid_need(outline: DefinitionOutline, step: CheckpointOutline, need: str) -> str | None:
    if need not in outline.by_key:
        return unknown_name("checkpoint", need, [key for key in outline.by_key if key != step.key])
    if not outline.is_before(need, step):
        return f"{step.key!r} needs {need!r}, which comes later: move {need!r} before it"
    return None


def _cycles(outline: DefinitionOutline) -> Iterator[tuple[list[str], set[str]]]:
    """For each group of checkpoints that wait for each other, a shortest cycle and the whole group."""
    needs = {step.key: [need for _, need in step.needs if need in outline.by_key] for step in _in_order(outline)}
    needed_by: dict[str, list[str]] = {key: [] for key in needs}
    for key, needed in needs.items():
        for need in needed:
            needed_by[need].append(key)
    seen: set[str] = set()
    for key in needs:
        if key in seen:
            continue
        predecessors = _reachable(key, needs)
        if key in predecessors:
            group = predecessors.keys() & _reachable(key, needed_by).keys()
            seen |= group
            yield _cycle(key, predecessors), group


def _reachable(start: str, edges: dict[str, list[str]]) -> dict[str, str]:
    """Everything that the edges lead to, each with its predecessor on a shortest path."""
    predecessors: dict[str, str] = {}
    queue = deque([start])
    while queue:
        key = queue.popleft()
        for other in edges[key]:
            if other not in predecessors:
                predecessors[other] = key
                queue.append(other)
    return predecessors


def _cycle(key: str, predecessors: dict[str, str]) -> list[str]:
    path = [key, predecessors[key]]
    while path[-1] != key:
        path.append(predecessors[path[-1]])
    return path[::-1]


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
            message = f"{stage!r} is also the key of a checkpoint that is its own stage: rename the stage"
            yield Finding((step if before in single else before).pointer("stage"), message)
        elif steps.index(step) != steps.index(before) + 1:
            message = f"the checkpoints of a stage must be next to each other: move {step.key!r} after {before.key!r}"
            yield Finding(step.pointer("stage"), message)
    for step in members:
        if step.decides and len(members) > 1:
            others = ", ".join(repr(other.key) for other in members if other is not step)
            message = f"a checkpoint that decides needs its own stage, but {stage!r} also has {others}"
            yield Finding(step.pointer("decides"), message)
