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
def test_invalid_yaml_is_rejected(text: str, position: tuple[int, int], message: str) -> None:
    found = findings(text)
    assert [(finding.line, finding.column) for finding in found] == [position]
    assert found[0].message == message


# ---- beyond the schema -----------------------------------------------------------------------------------------
INVALID_RULES = {
    "a duplicate name": (
        rules(rule(), rule()),
        Finding(
            "/checkpoints/1/name",
            mentions("'Rule'", "/checkpoints/0"),
            line=5,
            column=11,
        ),
    ),
    "the same name in both sections": (
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
    "an invalid path": (
        rules(rule(trigger="{ data_threshold: { field: 'a..b', operator: '>', value: 1 } }")),
        Finding(
            "/checkpoints/0/trigger/data_threshold/field",
            mentions("'a..b'", "'..b'"),
            line=3,
            column=41,
        ),
    ),
    "one invalid path of several": (
        rules(rule(trigger="{ kind: start, any: [{ field: input.a, value: 1 }, { field: '.b', value: 1 }] }")),
        Finding(
            "/checkpoints/0/trigger/any/1/field",
            mentions("'.b'", "`input`"),
            line=3,
            column=74,
        ),
    ),
    "an unknown time zone": (
        hours("Mars/Olympus", "monday_friday: 09:00-17:00"),
        Finding(
            "/auto_approval/global_settings/business_hours/timezone",
            mentions("Mars/Olympus", "America/New_York"),
            line=5,
            column=17,
        ),
    ),
    "hours that are empty": (
        hours("UTC", "saturday_sunday: 06:00-06:00"),
        Finding(
            "/auto_approval/global_settings/business_hours/saturday_sunday",
            mentions("00:00-24:00"),
            line=6,
            column=24,
        ),
    ),
}


@pytest.mark.parametrize("case", INVALID_RULES)
def test_rules_that_cannot_work_are_rejected(case: str) -> None:
    text, finding = INVALID_RULES[case]
    assert findings(text) == [finding]


TRIGGERS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    # the trigger, the path of the error in it, and what the message mentions
    "a list of conditions": (
        "{ kind: action, data_threshold: [{ field: amount, operator: '>=', value: 10 }] }",
        "/data_threshold",
        ("`all: [...]`", "`any: [...]`"),
    ),
    "a list of fields": (
        "{ kind: action, custom_field: [{ field: a, value: 1 }] }",
        "/custom_field",
        ("`all: [...]`", "`any: [...]`"),
    ),
    "a name without a root in a rule about everything": (
        "{ data_threshold: { field: amount, operator: '>', value: 5 } }",
        "/data_threshold/field",
        ("`action.amount`", "`result.amount`"),
    ),
    "a name without a root in a rule about two kinds": (
        "{ kind: [action, start], data_threshold: { field: amount, operator: '>', value: 5 } }",
        "/data_threshold/field",
        ("`action.amount`",),
    ),
    "a root without a name": (
        "{ kind: action, custom_field: { field: input, value: x } }",
        "/custom_field/field",
        ("`input.amount`",),
    ),
    "a name that is also a root": (
        "{ kind: action, custom_field: { field: result, value: x } }",
        "/custom_field/field",
        ("`result.amount`",),
    ),
    "a field that no run has": (
        "{ custom_field: { field: run.owner, value: x } }",
        "/custom_field/field",
        ("`run.created_by`",),
    ),
    "a path that may be missing": (
        "{ custom_field: { field: 'input.a?', value: x } }",
        "/custom_field/field",
        ("`?`",),
    ),
    "actions and results": (
        "{ risk_level: high, custom_field: { field: result.total, value: 5 } }",
        "/custom_field",
        ("`risk_level`", "`result.total`"),
    ),
    "starts with a risk": (
        "{ kind: start, not: { risk_level: high } }",
        "/kind",
        ("`risk_level`", "`kind: action`"),
    ),
    "results among others": (
        "{ kind: [start, completion], custom_field: { field: result.total, value: 5 } }",
        "/kind",
        ("`result.total`", "`kind: completion`"),
    ),
    "a kind inside of a condition": (
        "{ any: [{ kind: start }, { field: input.a, value: 1 }] }",
        "/any/0/kind",
        ("`kind`", "`any`"),
    ),
    "an empty range": (
        "{ kind: action, custom_field: { field: amount, between: [50, 10] } }",
        "/custom_field",
        ("50", "10"),
    ),
    "a range and a value": (
        "{ kind: action, custom_field: { field: amount, between: [10, 50], value: 5 } }",
        "/custom_field/value",
        ("`value`", "`between`"),
    ),
    "conditions that are nested too deeply": (
        "{ kind: action, not: " + "{ not: " * 8 + "{ risk_level: high }" + " }" * 9,
        "/not" * 9,
        ("8",),
    ),
    "too many conditions": (
        "{ kind: action, all: [" + ", ".join(["{ any: [" + "{ field: a, value: 1 }, " * 60 + "] }"] * 2) + "] }",
        "",
        ("100", "121"),
    ),
}


@pytest.mark.parametrize("case", TRIGGERS)
def test_ambiguous_and_impossible_conditions_are_rejected(case: str) -> None:
    trigger, path, mentioned = TRIGGERS[case]
    found = findings(rules(rule(trigger=trigger)))
    assert [(finding.path, finding.message) for finding in found] == [
        (f"/checkpoints/0/trigger{path}", mentions(*mentioned))
    ]


APPROVING: dict[str, tuple[str, str]] = {
    "a part of a text": ("{ field: url, operator: contains, value: api.bank.com }", ""),
    "an item of a list": ("{ field: to, operator: contains, value: boss@example.com }", ""),
    "a limit below 0": ("{ field: amount, operator: '<=', value: -5 }", ""),
    "an open limit of 0": ("{ field: amount, operator: '<', value: 0 }", ""),
    "the values of a template": ("{ field: values.amount, value: 5 }", "/field"),
    "the values of a template, with their root": ("{ field: action.values.amount, value: 5 }", "/field"),
}


@pytest.mark.parametrize("case", APPROVING)
def test_conditions_that_approve_too_much_are_rejected_only_in_approving_rules(case: str) -> None:
    condition, path = APPROVING[case]
    trigger = f"{{ kind: action, custom_field: {condition} }}"
    approving = findings(rules(rule("{ auto_approve: true }", trigger)))
    assert [finding.path for finding in approving] == [f"/checkpoints/0/trigger/custom_field{path}"]
    assert load(rules(rule("{}", trigger))).warnings == ()


def test_a_negated_lower_bound_is_an_upper_bound() -> None:
    trigger = "{ kind: action, not: { field: amount, operator: '>', value: -5 } }"
    assert [found.path for found in findings(rules(rule("{ auto_approve: true }", trigger)))] == [
        "/checkpoints/0/trigger/not"
    ]
    assert load(rules(rule("{ auto_approve: true }", trigger.replace("-5", "5")))).rulebook.rules


def test_other_operations_can_have_values() -> None:
    """Only an email has templates. The values of a database update are what it changes."""
    trigger = "{ operation_type: database_update, custom_field: { field: values.status, value: closed } }"
    assert load(rules(rule("{ auto_approve: true }", trigger))).rulebook.rules


def test_a_name_that_is_also_a_checkpoint_is_rejected_in_the_rules_of_its_pipeline() -> None:
    text = rules(rule(trigger="{ kind: completion, custom_field: { field: count.words, value: 5 } }"))
    found = findings(text, checkpoints=("count", "other"))
    assert [(finding.path, finding.message) for finding in found] == [
        ("/checkpoints/0/trigger/custom_field/field", mentions("`outputs.count.words`", "`result.count.words`"))
    ]
    assert load(text, checkpoints=("other",)).rulebook.rules


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


class FakeNames:
    """`boss` and the group `finance` can decide, `intern` can't. The group `nobody` has no members."""

    def count_users(self, name: str) -> int:
        return {"boss": 1, "finance": 2, "intern": 1}.get(name, 0)

    def count_deciders(self, name: str) -> int:
        return {"boss": 1, "finance": 1}.get(name, 0)

    def has_channel(self, name: str) -> bool:
        return name in ("email", "Finance room")


ESCALATION = "escalation: { after_seconds: 60, escalate_to: %s }"
NOTIFICATION = "notification: { channels: email, recipients: %s }"


@pytest.mark.parametrize(
    ("action", "path", "name"),
    [
        ("{ approvers: [boss, nobody] }", "approvers/1", "nobody"),
        ("{ approvers: nobody }", "approvers", "nobody"),
        ("{ approvers: [finance, intern] }", "approvers/1", "intern"),
        ("{ %s }" % (ESCALATION % "boss@example.com"), "escalation/escalate_to", "boss@example.com"),
        ("{ %s }" % (ESCALATION % "[boss, intern]"), "escalation/escalate_to/1", "intern"),
        ("{ %s }" % (NOTIFICATION % "'#approvals'"), "notification/recipients", "#approvals"),
        ("{ %s }" % (NOTIFICATION % "[intern, nobody]"), "notification/recipients/1", "nobody"),
        ("{ notification: { channels: [email, Finance] } }", "notification/channels/1", "Finance"),
        ("{ auto_approve: true, notification_channels: pigeon }", "notification_channels", "pigeon"),
    ],
)
def test_a_name_that_refers_to_nothing_is_an_error(action: str, path: str, name: str) -> None:
    found = findings(rules(rule(action)), count=count, known=FakeNames())
    assert [(finding.path, finding.message) for finding in found] == [(f"/checkpoints/0/action/{path}", mentions(name))]


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("{ approvers: [boss, finance] }", "completion"),
        ("{ %s }" % (NOTIFICATION % "[intern, somebody@example.com]"), "completion"),
        ("{ escalation: { enabled: false, escalate_to: nobody } }", "completion"),
        ("{ notification: { channels: [email, Finance room] } }", "completion"),
        ("{ %s }" % (ESCALATION % "intern"), "input"),
    ],
)
def test_known_names_are_accepted(action: str, kind: str) -> None:
    assert load(rules(rule(action, f"{{ kind: {kind} }}")), count=count, known=FakeNames()).rulebook.rules
