"""The OpenAPI document is complete and deterministic, and its examples are valid."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from cairn.api.app import operation_routes
from cairn.api.operations import operation_id
from cairn.documents import decode_json, encode_json
from tests.api.app import specification

SPEC = specification()
OPERATIONS: dict[str, dict[str, Any]] = {
    operation["operationId"]: operation for methods in SPEC["paths"].values() for operation in methods.values()
}


def is_valid(schema: dict[str, Any], value: Any) -> list[str]:
    complete = {**schema, "components": SPEC["components"]}
    return [
        f"{error.instance_path}: {error.message}"
        for error in jsonschema_rs.Draft202012Validator(complete).iter_errors(value)
    ]


def test_the_document_is_deterministic() -> None:
    printed = subprocess.run([sys.executable, "-m", "cairn.api.openapi_export"], check=True, capture_output=True).stdout
    assert printed == encode_json(SPEC, indent=True) + b"\n"


def test_the_document_for_the_web_app_is_up_to_date() -> None:
    """`make api-types` writes this file and the types of the web app."""
    assert decode_json((Path(__file__).parents[2] / "web" / "openapi.json").read_bytes()) == SPEC


def test_every_operation_has_an_id_a_tag_a_summary_and_a_sentence() -> None:
    assert sorted(OPERATIONS) == sorted(operation_id(route) for route in operation_routes())
    lacking = [
        name
        for name, operation in OPERATIONS.items()
        if not (operation.get("tags") and operation.get("summary") and operation.get("description"))
    ]
    assert lacking == []


def test_every_tag_has_a_description() -> None:
    used = {tag for operation in OPERATIONS.values() for tag in operation["tags"]}
    assert used == {tag["name"] for tag in SPEC["tags"]}


def test_every_operation_has_an_example_of_its_response() -> None:
    for name, operation in OPERATIONS.items():
        answers = [response for status, response in operation["responses"].items() if status.startswith("2")]
        assert len(answers) == 1, name
        if "content" in answers[0]:
            assert "examples" in next(iter(answers[0]["content"].values())), name


def test_every_request_body_has_an_example() -> None:
    for name, operation in OPERATIONS.items():
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            assert "example" in content["application/json"], name


WITH_EXAMPLE = [operation_id(route) for route in operation_routes() if route.operation.request_example is not None]


@pytest.mark.parametrize("name", sorted(WITH_EXAMPLE))
def test_examples_of_request_bodies_are_valid(name: str) -> None:
    media = OPERATIONS[name]["requestBody"]["content"]["application/json"]
    assert is_valid(media["schema"], media["example"]) == []


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_examples_of_responses_are_valid(name: str) -> None:
    for response in OPERATIONS[name]["responses"].values():
        for media in response.get("content", {}).values():
            for example in media.get("examples", {}).values():
                target = example["$ref"].rpartition("/")[2]
                assert is_valid(media["schema"], SPEC["components"]["examples"][target]["value"]) == []


def test_every_error_response_is_a_problem() -> None:
    for name, operation in OPERATIONS.items():
        for status, response in operation["responses"].items():
            if not status.startswith("2"):
                assert list(response["content"]) == ["application/problem+json"], (name, status)
    assert "HTTPValidationError" not in SPEC["components"]["schemas"]


def test_every_operation_describes_its_permission() -> None:
    assert OPERATIONS["getHealth"]["security"] == []
    assert OPERATIONS["createRun"]["security"] == [{"bearer": []}, {"session": []}]
    assert OPERATIONS["createRun"]["x-roles"] == ["admin", "editor"]
    assert OPERATIONS["deletePipeline"]["x-roles"] == ["admin"]


def test_every_post_and_put_that_changes_something_accepts_an_idempotency_key() -> None:
    keyed = {
        name
        for name, operation in OPERATIONS.items()
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", []))
    }
    changing = {
        operation["operationId"]
        for methods in SPEC["paths"].values()
        for method, operation in methods.items()
        if method in ("post", "put")
    }
    # responses with secrets are not stored, and the other operations change nothing
    secret = {"signIn", "startSignIn", "finishSignIn", "changePassword", "createInvitation", "previewInvitation"}
    secret |= {"acceptInvitation", "createOwnToken", "createToken", "putSecret", "createChannel"}
    looks = {
        "discoverTools",
        "validateDefinition",
        "compareDefinition",
        "previewRollback",
        "checkRules",
        "backtestRules",
    }
    assert changing - keyed == secret | looks
    assert keyed <= changing


def test_components_have_readable_names() -> None:
    odd = [name for name in SPEC["components"]["schemas"] if "[" in name or "__" in name or name.endswith("_")]
    assert odd == []
