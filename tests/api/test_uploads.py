"""File uploads for forms: streamed, limited in size, one at a time."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import pytest

from tests.api.app import App, form
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"
BOUNDARY = {"Content-Type": "multipart/form-data; boundary=b"}


async def waiting(app: App) -> tuple[str, str]:
    """Start a run that waits for a form with a file field. Returns the run and its execution."""
    field = {"name": "figures", "type": "file", "label": "Figures"}
    run = await app.run(await app.pipeline(form("goals", form=[field])))
    return run["run_id"], (await app.execution(run))["execution_id"]


async def test_a_file_is_uploaded_and_submitted(app: App) -> None:
    run, execution = await waiting(app)
    content = b"a,b\n1,2\n" * 300_000
    answer = await app.client.post(
        f"/api/executions/{execution}/files", files={"file": ("../größe.csv", content, "text/csv")}
    )
    assert answer.status_code == 201, answer.text
    upload = answer.json()
    assert upload == {
        "upload_id": upload["upload_id"],
        "filename": "größe.csv",
        "size_bytes": len(content),
        "checksum": hashlib.sha256(content).hexdigest(),
    }
    unknown = await app.post(f"/api/executions/{execution}/submit", {"fields": {"figures": NOBODY}}, 422)
    assert unknown["errors"][0]["path"] == "/fields/figures"
    done = await app.submit_form({"run_id": run}, figures=upload["upload_id"])
    assert done["status"] == "completed"
    artifacts = {a["checksum"]: a for a in done["artifacts_generated"]}
    path = f"/api/artifacts/{artifacts[upload['checksum']]['artifact_record_id']}/download"
    assert (await app.client.get(path)).content == content


async def test_the_same_key_gives_the_same_upload(app: App) -> None:
    _, execution = await waiting(app)
    path, key = f"/api/executions/{execution}/files", {"Idempotency-Key": f"upload-{execution}"}
    first = await app.client.post(path, files={"file": ("a.txt", b"one")}, headers=key)
    again = await app.client.post(path, files={"file": ("a.txt", b"one")}, headers=key)
    assert (again.status_code, again.json()) == (201, first.json())
    other = await app.client.post(path, files={"file": ("a.txt", b"longer")}, headers=key)
    assert other.status_code == 422


async def test_an_upload_with_a_too_large_length_is_rejected_before_it_is_sent(app: App) -> None:
    _, execution = await waiting(app)
    sent = 0

    async def content() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b"x" * 65536

    headers = {**BOUNDARY, "Content-Length": str(200 * 1024 * 1024)}
    answer = await app.client.post(f"/api/executions/{execution}/files", content=content(), headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (413, "urn:cairn:problem:payload-too-large")
    assert sent <= 1


async def test_an_upload_that_grows_too_large_is_rejected_while_it_arrives(app: App) -> None:
    _, execution = await waiting(app)
    limit = app.cairn.settings.max_file_bytes
    sent = 0

    async def content() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="big"\r\n\r\n'
        while sent < 2 * limit:
            sent += 1024 * 1024
            yield b"x" * (1024 * 1024)
        yield b"\r\n--b--\r\n"

    answer = await app.client.post(f"/api/executions/{execution}/files", content=content(), headers=BOUNDARY)
    assert (answer.status_code, answer.json()["detail"]) == (
        413,
        mentions(f"{limit:,}"),
    )
    assert sent <= limit + 8 * 1024 * 1024
    assert (await app.get(f"/api/executions/{execution}"))["status"] == "in_progress"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{}", {"Content-Type": "application/json"}, 415),
        (b"", {"Content-Type": "multipart/form-data"}, 415),
        (b"--b\r\nnonsense", BOUNDARY, 400),
        (b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nbroken off', BOUNDARY, 400),
        (b"--b--\r\n", BOUNDARY, 422),
        (b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nno name\r\n--b--\r\n', BOUNDARY, 422),
        (b'--b\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--b--\r\n', BOUNDARY, 422),
    ],
)
async def test_a_form_without_a_file_is_rejected(app: App, body: bytes, headers: dict[str, str], status: int) -> None:
    _, execution = await waiting(app)
    answer = await app.client.post(f"/api/executions/{execution}/files", content=body, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text


async def test_an_upload_contains_one_file(app: App) -> None:
    _, execution = await waiting(app)
    files = [("file", ("a.txt", b"a")), ("file", ("b.txt", b"b"))]
    answer = await app.client.post(f"/api/executions/{execution}/files", files=files)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:cairn:problem:invalid-input")


async def test_files_can_be_uploaded_only_for_waiting_forms(app: App) -> None:
    run = await app.run(await app.pipeline())
    done = await app.submit_form(run, goals="grow")
    answer = await app.client.post(f"/api/executions/{done['execution_id']}/files", files={"file": ("a", b"a")})
    assert answer.status_code == 409
    assert (await app.client.post(f"/api/executions/{NOBODY}/files", files={"file": ("a", b"a")})).status_code == 404
