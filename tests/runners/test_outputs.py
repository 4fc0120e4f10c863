"""Produced artifacts are checked against the declared ones."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.core.execution import Failure
from cairn.core.states import PassDecision
from cairn.documents import Value
from cairn.ports import InvalidResult, Outcome, Produced, ProducedFile, StoredFile
from cairn.runners.expected_artifacts import MAX_CACHED, artifact_id, expected
from cairn.runners.limits import RunnerLimits
from cairn.runners.result_checks import ProducedFiles, check_result
from tests.mentions import listing, mentions
from tests.runners.work_orders import WorkOutput, checkpoint, function_checkpoint, stored, unreadable, work

LIMITS = RunnerLimits(max_payload_bytes=2 * 1024 * 1024, max_file_bytes=3 * 1024 * 1024)
SCHEMA: Value = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "on": {"format": "date"}},
    "required": ["n"],
}


def invalid(*findings: str) -> Failure:
    return Failure("invalid_output", listing(*findings))


def check(
    *artifacts: ProducedFile | StoredFile, work_output: WorkOutput | None = None, output: Value = None, **fields: Any
) -> Outcome:
    return check_result(work(checkpoint(**fields), output=work_output), ProducedFiles(artifacts, output), LIMITS)


def by_function(*outputs: Value, **more: Any) -> dict[str, Any]:
    return {"function": "f", "outputs": list(outputs), **more}


def json_artifact(data: bytes) -> ProducedFile:
    return ProducedFile("a", "json", data)


# ---- declared artifacts ------------------------------------------------------------------------------


def test_exactly_the_declared_artifacts_are_produced() -> None:
    artifacts = (json_artifact(b'{"n": 1}'), ProducedFile("b", "md", b"# B"))
    assert check(*artifacts, **by_function("a.json", "b.md")) == Produced(artifacts)


def test_missing_and_undeclared_artifacts_are_named() -> None:
    outcome = check(json_artifact(b"1"), ProducedFile("x", "", b""), **by_function("b.md", "c.csv"))
    assert outcome == InvalidResult(
        (),
        invalid(
            mentions("- b.md: "),
            mentions("- c.csv: "),
            mentions("- a.json: ", "b.md", "c.csv"),
            mentions("- x: ", "b.md", "c.csv"),
        ),
    )


def test_another_format_is_another_artifact() -> None:
    outcome = check(ProducedFile("a", "md", b"x"), **by_function("a.json"))
    assert outcome == InvalidResult((), invalid(mentions("- a.md: ", "a.json")))


# ---- content --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "finding"),
    [
        (b"", mentions("- a.json: ", "JSON", "1")),
        (b'{"n": NaN}', mentions("- a.json: ", "JSON", "1", "7")),
        (b'{"n": 1, "n": 2}', mentions("- a.json: ", "JSON", "1", "14", '"n"')),
        (b'"\xff"', mentions("- a.json: ", "JSON", "1", "2", "UTF-8")),
    ],
)
def test_invalid_json_is_reported_with_its_position(data: bytes, finding: str) -> None:
    assert check(json_artifact(data), **by_function("a.json")) == InvalidResult(
        (json_artifact(data),), invalid(finding)
    )


@pytest.mark.parametrize("format", ["csv", "md", "txt", "html", "py", "mmd"])
def test_text_artifacts_must_be_utf8(format: str) -> None:
    good, bad = ProducedFile("a", format, "Größe".encode()), ProducedFile("a", format, "Größe".encode("latin-1"))
    options = by_function(f"a.{format}")
    assert check(good, **options) == Produced((good,))
    assert check(bad, **options) == InvalidResult((bad,), invalid(mentions(f"- a.{format}: ", "UTF-8", "2")))


def test_other_formats_are_stored_unchanged() -> None:
    picture = ProducedFile("a", "png", b"\x89PNG\xff")
    assert check(picture, **by_function("a.png")) == Produced((picture,))


# ---- schemas ------------------------------------------------------------------------------------------------


def test_an_artifact_must_match_its_schema() -> None:
    options = by_function({"name": "a", "format": "json", "schema": SCHEMA})
    good, bad = json_artifact(b'{"n": 1, "on": "2026-02-28"}'), json_artifact(b'{"n": "one", "on": "2026-02-30"}')
    assert check(good, **options) == Produced((good,))
    assert check(bad, **options) == InvalidResult(
        (bad,),
        invalid(
            mentions("- a.json#/n: ", '"one"'),
            mentions("- a.json#/on: ", '"2026-02-30"'),
        ),
    )


def test_the_output_schema_applies_to_the_context_value() -> None:
    first, second = json_artifact(b'{"n": 1}'), ProducedFile("b", "json", b"[2]")
    single = by_function("a.json", output_schema=SCHEMA)
    assert check(first, **single) == Produced((first,))
    bad = json_artifact(b"[]")
    assert check(bad, **single) == InvalidResult((bad,), invalid(mentions("- output: ", "[]")))
    schema: Value = {"properties": {"a": SCHEMA, "b": {"maxItems": 0}}, "required": ["a", "b"]}
    several = by_function("a.json", "b.json", output_schema=schema)
    assert check(first, second, **several) == InvalidResult(
        (first, second), invalid(mentions("- output#/b: ", "0", "1"))
    )


def test_the_output_schema_applies_to_a_return_value_alongside_other_files() -> None:
    text, returned = ProducedFile("a", "md", b"x"), ProducedFile("output", "json", b"{}")
    fields = by_function("a.md", output_schema={"required": ["n"]})
    assert check(text, returned, **fields) == InvalidResult((text, returned), invalid(mentions("- output: ", "`n`")))


def test_the_output_schema_applies_to_form_fields() -> None:
    text = ProducedFile("a", "md", b"x")
    options: dict[str, Any] = {"form": ["n"], "outputs": ["a.md"], "output_schema": SCHEMA}
    assert check(text, output={"n": 1}, **options) == Produced((text,), {"n": 1})
    assert check(text, output={}, **options) == InvalidResult((text,), invalid(mentions("- output: ", "`n`")))


def test_only_the_first_of_many_findings_are_reported() -> None:
    options = by_function("a.json", output_schema={"items": {"type": "string"}})
    bad = json_artifact(b"[" + b"1," * 99_999 + b"1]")
    outcome = check(bad, **options)
    assert isinstance(outcome, InvalidResult)
    lines = outcome.error.message.splitlines()
    assert len(lines) == 22
    assert lines[1:3] == [mentions("- output#/0: ", "1"), mentions("- output#/1: ", "1")]
    assert lines[-2].startswith("- output#/19: ")
    assert lines[-1] == mentions("- ")


@pytest.mark.parametrize("schema", [{"$ref": "https://example.org/s.json"}, {"pattern": "(?=x)"}])
def test_a_schema_with_remote_references_or_unbounded_time_is_never_used(schema: Value) -> None:
    outcome = check(json_artifact(b'"x"'), **by_function("a.json", output_schema=schema))
    assert isinstance(outcome, InvalidResult)
    assert outcome.error.message == listing(mentions("- output: "))


# ---- sizes ---------------------------------------------------------------------------------------------------


def text_of(size: int) -> bytes:
    return b'"' + b"x" * (size - 2) + b'"'


def test_over_half_of_the_limit_gives_a_warning() -> None:
    half, logged = 1024 * 1024, WorkOutput()
    assert check(json_artifact(text_of(half)), work_output=logged, **by_function("a.json")) == Produced(
        (json_artifact(text_of(half)),)
    )
    assert logged.lines == []
    check(json_artifact(text_of(half + 1)), work_output=logged, **by_function("a.json"))
    message = mentions("1,048,577", "2,097,152")
    assert logged.lines == [("warning", message, {"size_bytes": half + 1, "limit_bytes": 2 * half})]


def test_output_over_the_limit_is_rejected_with_size_and_limit() -> None:
    half = 1024 * 1024
    assert isinstance(check(json_artifact(text_of(2 * half)), **by_function("a.json")), Produced)
    artifacts = (json_artifact(text_of(half)), ProducedFile("b", "json", text_of(half + 1)))
    assert check(*artifacts, **by_function("a.json", "b.json")) == InvalidResult(
        artifacts,
        invalid(mentions("- output: ", "JSON", "2.0", "2,097,153", "2,097,152")),
    )


def test_a_file_over_the_limit_is_rejected_and_not_stored() -> None:
    large, small = (
        ProducedFile("a", "txt", b"x" * (3 * 1024 * 1024 + 1)),
        ProducedFile("b", "txt", b"x" * (3 * 1024 * 1024)),
    )
    assert check(large, small, **by_function("a.txt", "b.txt")) == InvalidResult(
        (small,), invalid(mentions("- a.txt: ", "3.0", "3,145,729", "3,145,728"))
    )


def test_a_stored_file_is_not_read_for_its_size() -> None:
    large = StoredFile("a", "txt", "sum", 10**9, unreadable)
    outcome = check(large, **by_function("a.txt"))
    assert isinstance(outcome, InvalidResult)
    assert outcome.artifacts == ()


def test_a_stored_file_is_checked_like_any_other() -> None:
    good, bad = stored("a", "json", "[1]"), stored("a", "json", "[1")
    assert check(good, **by_function("a.json")) == Produced((good,))
    assert isinstance(check(bad, **by_function("a.json")), InvalidResult)


# ---- pass decisions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruling", list(PassDecision))
def test_a_deciding_checkpoint_gives_a_pass_decision(ruling: PassDecision) -> None:
    artifact = json_artifact(f'{{"decision": "{ruling.value}", "reason": "because"}}'.encode())
    assert check(artifact, decides=True, **by_function("a.json")) == Produced((artifact,), None, ruling)


@pytest.mark.parametrize(
    ("data", "actual"), [(b'{"decision": "maybe"}', '"maybe"'), (b"{}", "null"), (b'["COMPLETE"]', '["COMPLETE"]')]
)
def test_a_result_without_pass_decision_is_invalid(data: bytes, actual: str) -> None:
    artifact = json_artifact(data)
    finding = mentions("- output#/decision: ", "COMPLETE", "RESTART", "ESCALATE", actual)
    assert check(artifact, decides=True, **by_function("a.json")) == InvalidResult((artifact,), invalid(finding))


# ---- ids ------------------------------------------------------------------------------------------------------


def test_artifact_ids_are_declared_or_derived_from_the_name() -> None:
    declared = "0b7e6a54-2f6b-4a63-9a56-0d6a8b3c1e22"
    definition = checkpoint(**by_function({"artifact_id": declared, "name": "a", "format": "json"}))
    assert artifact_id(definition, "a") == declared
    first, again = artifact_id(function_checkpoint(), "output"), artifact_id(function_checkpoint(), "output")
    assert first == again
    assert first != artifact_id(function_checkpoint(), "other")


def test_expected_artifacts_are_cached_for_each_definition() -> None:
    definitions = [function_checkpoint("a.json") for _ in range(3)]
    assert expected(definitions[0]) is expected(definitions[0])
    assert expected(definitions[0]) is not expected(definitions[1])
    for _ in range(MAX_CACHED + 1):
        assert expected(definitions[2].model_copy()).find("a.json") is not None
