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
    for checkpoint in outline.checkpoints:
        for index, need in checkpoint.needs:
            is_reported = checkpoint.key in group and group[checkpoint.key] == group.get(need)
            if not is_reported and (message := _invalid_need(outline, checkpoint, need)):
                yield Finding(checkpoint.pointer("dependencies", NEEDS, index), message)
    yield from _check_stages(_in_order(outline))


def _invalid_need(outline: DefinitionOutline, checkpoint: CheckpointOutline, need: str) -> str | None:
    if need not in outline.by_key:
        return unknown_name("checkpoint", need, [key for key in outline.by_key if key != checkpoint.key])
    if not outline.is_before(need, checkpoint):
        return f"{checkpoint.key!r} needs {need!r}, which comes later: move {need!r} before it"
    return None


def _cycles(outline: DefinitionOutline) -> Iterator[tuple[list[str], set[str]]]:
    """For each group of checkpoints that wait for each other, yield a shortest cycle and the group."""
    needs = {
        checkpoint.key: [need for _, need in checkpoint.needs if need in outline.by_key]
        for checkpoint in _in_order(outline)
    }
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
    """All reachable nodes, each with its predecessor on a shortest path."""
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
    return sorted(outline.by_key.values(), key=lambda checkpoint: checkpoint.position)


def _check_stages(checkpoints: list[CheckpointOutline]) -> Iterator[Finding]:
    stages: dict[str, list[CheckpointOutline]] = {}
    for checkpoint in checkpoints:
        stages.setdefault(checkpoint.stage, []).append(checkpoint)
    for stage, members in stages.items():
        yield from _check_stage(stage, members, checkpoints)


def _check_stage(
    stage: str, members: list[CheckpointOutline], checkpoints: list[CheckpointOutline]
) -> Iterator[Finding]:
    single = [checkpoint for checkpoint in members if "stage" not in checkpoint.document]
    for before, checkpoint in pairwise(members):
        if single:
            message = f"{stage!r} is also the key of a checkpoint that is its own stage: rename the stage"
            yield Finding((checkpoint if before in single else before).pointer("stage"), message)
        elif checkpoints.index(checkpoint) != checkpoints.index(before) + 1:
            message = f"checkpoints of a stage must be next to each other: move {checkpoint.key!r} after {before.key!r}"
            yield Finding(checkpoint.pointer("stage"), message)
    for checkpoint in members:
        if checkpoint.decides and len(members) > 1:
            others = ", ".join(repr(other.key) for other in members if other is not checkpoint)
            message = f"a checkpoint that decides needs its own stage, but {stage!r} also has {others}"
            yield Finding(checkpoint.pointer("decides"), message)
