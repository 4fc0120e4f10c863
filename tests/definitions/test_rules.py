"""Rules as documents: every file of the corpus, and checks beyond the schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import pytest

from cairn.core.rules import Rulebook
from cairn.definitions import DefinitionError, Finding, Severity
from cairn.definitions.rules import load, schema
from cairn.documents import decode_json, decode_yaml, encode_yaml
from tests.mentions import mentions

FOLDER = Path(__file__).parent / "rules_corpus"
VALID = sorted((FOLDER / "valid").iterdir())
EXPECTED = cast("dict[str, dict[str, str]]", decode_json((FOLDER / "expected.json").read_bytes()))


def findings(text: str, **more: Any) -> list[Finding]:
    with pytest.raises(DefinitionError) as caught:
        load(text, **more)
    return [found for found in caught.value.findings if found.severity is Severity.ERROR]


def rule(action: str = "{}", trigger: str = "{ risk_level: high }", name: str = "Rule") -> str:
    return f"  - name: {name}\n    trigger: {trigger}\n    action: {action}\n"


def rules(*entries: str) -> str:
    return "checkpoints:\n" + "".join(entries)


def hours(zone: str, days: str) -> str:
    head = "auto_approval:\n  enabled: true\n  global_settings:\n    business_hours:\n"
    return f"{head}      timezone: {zone}\n      {days}\n"


# ---- the corpus --------------------------------------------------------------------------------------------
def test_every_document_of_the_corpus_has_an_expectation() -> None:
    assert {path.name for path in (FOLDER / "invalid").iterdir()} == set(EXPECTED)
    assert (len(VALID), len(EXPECTED)) == (7, 89)


def test_the_published_schema_is_valid() -> None:
    jsonschema_rs.meta.validate(schema())
    assert schema()["$id"] == "urn:cairn:schema:rules:1.0"


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_valid_rules_pass(path: Path) -> None:
    read = load(path.read_bytes())
    assert read.document == decode_yaml(path.read_bytes())[0]
    assert {found.severity for found in read.warnings} <= {Severity.WARNING}
    assert (load(encode_yaml(read.document)).rulebook, read.rulebook) == (read.rulebook, read.rulebook)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_invalid_rules_are_rejected_with_the_path_of_the_error(name: str) -> None:
    case = EXPECTED[name]
    found = findings((FOLDER / "invalid" / name).read_text("utf-8"))
    assert {finding.path for finding in found} == {case["path"]}
    assert all(finding.line is not None and finding.column is not None for finding in found)
    if "names" in case:
        assert any(f"`{case['names']}`" in finding.message for finding in found)


def test_an_empty_document_has_no_rules() -> None:
    assert [load(text).rulebook for text in ("", "# none yet\n", "{}")] == [Rulebook()] * 3


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("checkpoints: [\n", (2, 1), mentions()),
        ("a: &x 1\nb: *x\n", (1, 4), mentions("&x")),
        ("checkpoints: !!python/object:os.system {}\n", (1, 14), mentions("python/object:os.system")),
        ("version: 1.0\nversion: 1.0\n", (2, 1), mentions("'version'", "1")),
    ],
)
def test_text_that_is_not_a_document_is_rejected(text: str, position: tuple[int, int], message: str) -> None:
    found = findings(text)
    assert [(finding.line, finding.column) for finding in found] == [position]
    assert found[0].message == message


# ---- beyond the schema -----------------------------------------------------------------------------------------
MEANT = {
    "one name twice": (
        rules(rule(), rule()),
        Finding(
            "/checkpoints/1/name",
            mentions("'Rule'", "/checkpoints/0"),
            line=5,
            column=11,
        ),
    ),
    "one name in both sections": (
        rules(rule()) + "auto_approval:\n  enabled: true\n  rules:\n"
        "    - { name: Rule, conditions: { kind: start }, action: { auto_approve: true } }\n",
        Finding(
            "/auto_approval/rules/0/name",
            mentions("'Rule'", "/checkpoints/0"),
            line=8,
            column=15,
        ),
    ),
    "escalation after the deadline": (
        rules(rule("{ timeout_seconds: 60, escalation: { after_seconds: 60, escalate_to: boss } }")),
        Finding(
            "/checkpoints/0/action/escalation/after_seconds",
            mentions("60"),
            line=4,
            column=65,
        ),
    ),
    "escalation after the default deadline": (
        rules(rule("{ escalation: { after_seconds: 7200, escalate_to: boss } }")),
        Finding(
            "/checkpoints/0/action/escalation/after_seconds",
            mentions("7200", "3600"),
            line=4,
            column=44,
        ),
    ),
    "a field that is no path": (
        rules(rule(trigger="{ data_threshold: { field: 'a..b', operator: '>', value: 1 } }")),
        Finding(
            "/checkpoints/0/trigger/data_threshold/field",
            mentions("'a..b'", "'..b'"),
            line=3,
            column=41,
        ),
    ),
    "one field of several that is no path": (
        rules(rule(trigger="{ custom_field: [{ field: a, value: 1 }, { field: '.b', value: 1 }] }")),
        Finding(
            "/checkpoints/0/trigger/custom_field/1/field",
            mentions("'.b'", "`input`"),
            line=3,
            column=64,
        ),
    ),
    "a time zone that is none": (
        hours("Mars/Olympus", "monday_friday: 09:00-17:00"),
        Finding(
            "/auto_approval/global_settings/business_hours/timezone",
            mentions("Mars/Olympus", "America/New_York"),
            line=5,
            column=17,
        ),
    ),
    "hours over midnight": (
        hours("UTC", "saturday_sunday: 22:00-06:00"),
        Finding(
            "/auto_approval/global_settings/business_hours/saturday_sunday",
            mentions(),
            line=6,
            column=24,
        ),
    ),
}


@pytest.mark.parametrize("case", MEANT)
def test_rules_that_cannot_work_are_rejected(case: str) -> None:
    text, finding = MEANT[case]
    assert findings(text) == [finding]


def test_a_malformed_value_is_reported_once() -> None:
    assert [finding.path for finding in findings(rules("  - name: 5\n", rule(name="5")))] == [
        "/checkpoints/0",
        "/checkpoints/0",
        "/checkpoints/0/name",
        "/checkpoints/1/name",
    ]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("{ on_timeout: escalate }", mentions()),
        ("{ notify: true }", mentions("`notify`")),
    ],
)
def test_questionable_rules_are_accepted_with_a_warning(action: str, message: str) -> None:
    read = load(rules(rule(action)))
    assert [found.message for found in read.warnings] == [message]
    assert load(rules(rule("{ auto_approve: true, notify: true, rollout_percentage: 5 }"))).warnings == ()


# ---- people ------------------------------------------------------------------------------------------------
PEOPLE = {"finance": 2, "boss": 1}


def count(named: tuple[str, ...]) -> int:
    return sum(PEOPLE.get(name, 0) for name in named) if named else 3


@pytest.mark.parametrize(
    ("action", "path", "message"),
    [
        (
            "{ require_approval_count: 4 }",
            "require_approval_count",
            mentions("4", "3"),
        ),
        (
            "{ require_approval_count: 3, approvers: finance }",
            "require_approval_count",
            mentions("3", "2", "finance"),
        ),
        (
            "{ approvers: [nobody, no one] }",
            "approvers",
            mentions("1", "nobody, no one"),
        ),
    ],
)
def test_requiring_more_approvers_than_exist_is_rejected(action: str, path: str, message: str) -> None:
    found = findings(rules(rule(action)), count=count)
    assert [(finding.path, finding.message) for finding in found] == [(f"/checkpoints/0/action/{path}", message)]


@pytest.mark.parametrize("action", ["{ require_approval_count: 3 }", "{ approvers: boss }", "{}"])
def test_requiring_as_many_approvers_as_exist_is_accepted(action: str) -> None:
    assert len(load(rules(rule(action)), count=count).rulebook.rules) == 1
