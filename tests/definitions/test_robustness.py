"""Any document is either rejected with findings or usable, and never causes a crash."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cairn.definitions import Severity, check, compile_plan, load, parse
from cairn.documents.values import walk
from tests.definitions.corpus import EXPECTED, VALID, read, read_invalid
from tests.definitions.drafts import pipelines
from tests.definitions.test_yaml_export import apply_again
from tests.documents.values import values
from tests.effort import examples


@cache
def known() -> list[Any]:
    return [read(path)[0] for path in VALID] + [read_invalid(name)[0] for name in sorted(EXPECTED)]


KNOWN = st.deferred(lambda: st.sampled_from(known()))  # deferred, so that collecting the tests doesn't read them
WORDS = st.sampled_from(
    [
        "a",
        "input",
        "agentic",
        "script",
        "human_only",
        "function",
        "json",
        "number",
        "file",
        "a.b[0]?",
        "(",
        "both",
        0,
        3.0,
    ]
)


def replaced(document: Any, at: int, value: Any, key: str | None) -> Any:
    """The document with one value replaced, or with one key added."""
    changed = deepcopy(document)
    paths = [path for path, _ in walk(changed)]
    path = paths[at % len(paths)]
    if not path:
        return value
    holder = changed
    for part in path[:-1]:
        holder = holder[part]
    if key is not None and isinstance(holder[path[-1]], dict):
        holder[path[-1]][key] = value
    else:
        holder[path[-1]] = value
    return changed


SHORT = ["prompt", "agent", "script", "function", "form", "outputs", "approve", "needs", "stage", "key"]
FULL = [
    "loop",
    "output_schema",
    "input_schema",
    "input_mapping",
    "default",
    "validation",
    "enabled",
    "checkpoint_order",
]
SCHEMA = ["schema", "type", "properties", "required", "parameters", "$ref", "items"]
KEYS = st.none() | st.sampled_from(SHORT + FULL + SCHEMA)
SUPPRESSED_CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=examples(120), deadline=None, suppress_health_check=SUPPRESSED_CHECKS)
@given(KNOWN | pipelines, st.lists(st.tuples(st.integers(0, 400), WORDS | values, KEYS), max_size=3))
def test_any_document_is_either_rejected_or_usable(document: Any, changes: list[tuple[int, Any, str | None]]) -> None:
    for at, value, key in changes:
        document = replaced(document, at, value, key)
    findings = check(document, functions=["samples.f"])
    if any(finding.severity is Severity.ERROR for finding in findings):
        return
    definition = load(document).definition
    assert parse(definition.document) == definition
    compile_plan(definition, definition)
    apply_again(document)
