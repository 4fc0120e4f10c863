"""Script files over HTTP: write, read, list and remove. Each change is a revision."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.api.app import App
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
TEXT = "def main(ctx):\n    return {'größe': 1}\n"
PYTHON = {"Content-Type": "text/x-python"}


def checkpoint(path: str = "report.py") -> dict[str, Any]:
    return {"key": "report", "script": path, "outputs": ["report.json"]}


async def test_a_script_is_written_read_listed_and_removed(app: App) -> None:
    pipeline = await app.pipeline(checkpoint(), scripts={"lib/old.py": "OLD = 1\n"})
    path = f"/api/pipelines/{pipeline['pipeline_id']}/scripts"
    written = await app.client.put(f"{path}/report.py", content=TEXT.encode(), headers=PYTHON)
    checksum = hashlib.sha256(TEXT.encode()).hexdigest()
    entry = {"path": "report.py", "checksum": checksum, "size_bytes": len(TEXT.encode()), "used_by": ["report"]}
    assert (written.status_code, written.headers["etag"]) == (200, '"2"')
    assert written.json() == {**entry, "revision": 2, "warnings": []}
    again = await app.client.put(f"{path}/report.py", content=TEXT.encode(), headers=PYTHON)
    assert again.json()["revision"] == 2
    read = await app.client.get(f"{path}/report.py")
    assert (read.text, read.headers["content-type"]) == (TEXT, "text/plain; charset=utf-8")
    listed = await app.get(path)
    assert [(script["path"], script["used_by"]) for script in listed["items"]] == [
        ("lib/old.py", []),
        ("report.py", ["report"]),
    ]
    assert (await app.client.delete(f"{path}/report.py")).status_code == 409
    removed = await app.client.delete(f"{path}/lib/old.py")
    assert (removed.status_code, removed.json()) == (200, {"path": "lib/old.py", "revision": 3})
    assert (await app.client.get(f"{path}/lib/old.py")).status_code == 404


async def test_a_definition_contains_its_scripts(app: App) -> None:
    pipeline = await app.pipeline(checkpoint(), scripts={"report.py": TEXT})
    full = await app.get(f"/api/pipelines/{pipeline['pipeline_id']}")
    reference = {"checksum": hashlib.sha256(TEXT.encode()).hexdigest(), "size_bytes": len(TEXT.encode())}
    assert full["scripts"] == {"report.py": reference}
    assert full["warnings"] == []
    updated = await app.put(f"/api/pipelines/{pipeline['pipeline_id']}", {"scripts": full["scripts"]})
    assert updated["revision"] == 1
    text = (await app.client.get(f"/api/pipelines/{pipeline['pipeline_id']}/definition")).text
    assert "return {'größe': 1}" in text


async def test_a_concurrent_change_is_not_overwritten(app: App) -> None:
    pipeline = await app.pipeline(checkpoint())
    path = f"/api/pipelines/{pipeline['pipeline_id']}/scripts/report.py"
    assert (await app.client.put(path, content=b"A = 1", headers={**PYTHON, "If-Match": '"1"'})).status_code == 200
    assert (await app.client.put(path, content=b"A = 2", headers={**PYTHON, "If-Match": '"1"'})).status_code == 412


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("%2e%2e/x.py", b"", PYTHON, 422),
        ("a/%2e%2e/%2e%2e/x.py", b"", PYTHON, 422),
        ("%2Fetc/passwd", b"", PYTHON, 422),
        ("a%5Cb.py", b"", PYTHON, 422),
        ("x.py", b"\xff", PYTHON, 422),
        ("x.py", b"x" * (1024 * 1024 + 1), PYTHON, 413),
        ("x.py", b"{}", {"Content-Type": "application/json"}, 415),
    ],
)
async def test_invalid_scripts_are_rejected(
    app: App, path: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    pipeline = await app.pipeline()
    answer = await app.client.put(
        f"/api/pipelines/{pipeline['pipeline_id']}/scripts/{path}", content=body, headers=headers
    )
    assert answer.status_code == status, answer.text


async def test_every_error_in_the_scripts_of_a_definition_has_a_location(app: App) -> None:
    scripts = {"../x.py": "", "a": "", "a/b.py": "", "ref.py": {"checksum": "short"}}
    validation = await app.post("/api/definitions/validate", {"pipeline_name": "P", "scripts": scripts})
    assert sorted({error["path"] for error in validation["errors"]}) == [
        "/scripts/..~1x.py",
        "/scripts/a~1b.py",
        "/scripts/ref.py",
        "/scripts/ref.py/checksum",
    ]


async def test_missing_parts_of_a_script_are_warnings(app: App) -> None:
    scripts = {"report.py": "def mian(ctx):\n    return 1\n", "broken.py": "def main(:\n"}
    checkpoints = [checkpoint(), {"key": "other", "script": "broken.py"}, {"key": "third", "script": "absent.py"}]
    validation = await app.post(
        "/api/definitions/validate", {"pipeline_name": "P", "checkpoints": checkpoints, "scripts": scripts}
    )
    assert validation["is_valid"] is True
    assert [finding["message"] for finding in validation["warnings"]] == [
        mentions("'absent.py'"),
        mentions("'main'", "mian"),
        mentions("1", "invalid syntax"),
    ]


ASKING = """import decimal

def helper(ctx): ...

async def main(ctx, region: str, rows: int = 10, ratio: "float | None" = None, tags: list[str] = ["a"], *, final: bool):
    return {"region": region, "rows": rows, "ratio": ratio, "tags": tags, "final": final}
"""


async def test_a_script_with_only_a_prompt_gets_its_form_from_its_parameters(app: App) -> None:
    """Over HTTP, from the definition to the output, for a script file that changes while a run waits."""
    config = {"script_path": "ask.py", "requires_user_input": True, "user_input_prompt": "Which report?"}
    asking = {"key": "report", "execution": {"mode": "script", "script_config": config}, "outputs": ["report.json"]}
    pipeline = await app.pipeline(asking, scripts={"ask.py": ASKING})
    assert pipeline["warnings"] == []
    run = await app.run(pipeline)

    async def find() -> Any:
        e = await app.execution(run)
        return e if e["form"] is not None else None

    e = await app.wait_until(find)
    assert e["form"]["instructions"] == "Which report?"
    fields = [(field["name"], field["type"], field["required"], field["default"]) for field in e["form"]["fields"]]
    assert fields == [
        ("region", "text", True, None),
        ("rows", "number", False, 10),
        ("ratio", "number", False, None),
        ("tags", "multiline_text", False, '["a"]'),
        ("final", "boolean", True, None),
    ]
    scripts = f"/api/pipelines/{pipeline['pipeline_id']}/scripts/ask.py"
    assert (await app.client.put(scripts, content=b"def main(ctx): ...", headers=PYTHON)).status_code == 200
    submit = f"/api/executions/{e['execution_id']}/submit"
    refused = await app.post(submit, {"fields": {"rows": 1.5, "final": True, "color": "red"}}, 422)
    assert sorted(error["path"] for error in refused["errors"]) == ["/fields/color", "/fields/region", "/fields/rows"]
    await app.post(submit, {"fields": {"region": "North", "tags": '["b", "c"]', "final": True}})

    async def completed() -> Any:
        return (await app.execution(run))["artifacts_generated"] or None

    [artifact] = await app.wait_until(completed)
    assert await app.get(f"/api/artifacts/{artifact['artifact_record_id']}/content") == {
        "region": "North",
        "rows": 10,
        "ratio": None,
        "tags": ["b", "c"],
        "final": True,
    }
