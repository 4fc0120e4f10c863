"""All documents of the corpus: valid ones pass, and invalid ones are rejected with the path of the error."""

from __future__ import annotations

from pathlib import Path

import jsonschema_rs
import pytest

from cairn.definitions import (
    DefinitionError,
    Severity,
    authoring_schema,
    check,
    expand,
    full_schema,
    load,
    parse,
    without_ids,
)
from cairn.definitions.checks.shape import check_shape
from cairn.documents import canonical
from tests.definitions.corpus import EXPECTED, FOLDER, VALID, read, read_invalid, saved

# Expansion makes these valid: it adds the missing key, and `prompt` is a short form.
VALID_AFTER_EXPANSION = {"key-missing.yaml", "checkpoint-field-unknown.yaml"}
authoring = jsonschema_rs.validator_for(
    authoring_schema(), validate_formats=True, pattern_options=jsonschema_rs.RegexOptions()
)


def test_every_document_of_the_corpus_has_an_expectation() -> None:
    assert {path.name for path in (FOLDER / "invalid").iterdir()} == set(EXPECTED)
    assert len(VALID) == 10


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_valid_documents_pass(path: Path) -> None:
    document, positions = read(path)
    assert list(check_shape(document)) == []
    assert check(document, positions=positions) == []
    assert list(authoring.iter_errors(document)) == []


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_expanding_the_full_form_again_changes_nothing(path: Path) -> None:
    full = expand(read(path)[0])
    assert list(check_shape(full)) == []
    assert canonical(expand(full)) == canonical(full)
    assert canonical(parse(full).document) == canonical(full)
    definition = saved(full)
    assert list(check_shape(definition.document)) == []
    assert canonical(without_ids(definition).document) == canonical(without_ids(parse(full)).document)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_invalid_documents_are_rejected_with_the_path_of_the_error(name: str) -> None:
    document, _ = read_invalid(name)
    case = EXPECTED[name]
    found = [error.finding for error in check_shape(document)]
    assert {finding.path for finding in found} == {case["path"]}
    if "names" in case and case["names"] != "execution":
        assert any(f"`{case['names']}`" in finding.message for finding in found)


@pytest.mark.parametrize("name", sorted(set(EXPECTED) - VALID_AFTER_EXPANSION))
def test_invalid_documents_are_rejected_before_expansion_too(name: str) -> None:
    document, positions = read_invalid(name)
    with pytest.raises(DefinitionError) as caught:
        load(document, positions=positions)
    errors = [finding for finding in caught.value.findings if finding.severity is Severity.ERROR]
    assert EXPECTED[name]["path"] in {error.path for error in errors}
    assert all(error.path.startswith(EXPECTED[name]["path"]) for error in errors)
    assert all(error.line is not None and error.column is not None for error in errors)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_documents_that_the_authoring_schema_rejects_are_rejected_on_save(name: str) -> None:
    document, _ = read_invalid(name)
    if not authoring.is_valid(document):
        assert check(document) != []
    assert authoring.is_valid(document) or name not in VALID_AFTER_EXPANSION


def test_published_schemas_are_schemas() -> None:
    for schema in (full_schema(), authoring_schema()):
        jsonschema_rs.meta.validate(schema)
    assert full_schema()["$id"] == "urn:cairn:schema:pipeline:1.0"
    assert authoring_schema()["$id"] == "urn:cairn:schema:authoring:1.0"
