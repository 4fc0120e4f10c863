"""Forms and their file uploads."""

from __future__ import annotations

import hashlib
import os
import resource
from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.services.actors import ADMIN
from cairn.services.approvals.uploads import StoredUpload
from cairn.services.errors import InvalidInput, TooLarge
from cairn.store import tables as t
from cairn.store.errors import NotFound
from tests.mentions import mentions
from tests.services.app import App, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")
MEGABYTE = 2**20


def field(name: str, type: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, "label": name.capitalize(), **more}


ALL_TYPES = (
    field("title", "text"),
    field("count", "number"),
    field("agreed", "boolean"),
    field("story", "multiline_text"),
    field("mood", "text", required=False, default="calm"),
    field("code", "text", validation="[A-Z]{3}", required=False),
    field("share", "number", validation={"minimum": 0, "maximum": 1}, required=False),
)
ANSWERS: dict[str, Any] = {"title": "Größe 🚀", "count": 2**70, "agreed": False, "story": "one\ntwo"}


async def chunks(content: bytes, size: int = 64 * 1024) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def upload(app: App, run: str, key: str, content: bytes, name: str = "plan.bin") -> StoredUpload:
    execution = app.execution(run, key).execution_id
    return await app.cairn.uploads.add(execution, name, "application/octet-stream", chunks(content), actor=ADMIN)


async def test_answers_of_every_field_type_are_stored_unchanged(app: App) -> None:
    pipeline = await app.pipeline(form("goals", *ALL_TYPES), step("next", "give_back"))
    run = await app.start(pipeline)
    await app.submit_form(run, "goals", **ANSWERS)
    await app.wait_for_run(run, "completed")
    assert app.output(run, "goals") == {**ANSWERS, "mood": "calm"}
    assert app.output(run, "next")["goals"] == {**ANSWERS, "mood": "calm"}


async def test_each_invalid_field_is_reported_and_nothing_is_submitted(app: App) -> None:
    pipeline = await app.pipeline(form("goals", *ALL_TYPES))
    run = await app.start(pipeline)
    with pytest.raises(InvalidInput) as error:
        await app.submit_form(run, "goals", title=3, count="many", agreed="yes", code="abc", share=2, extra=1)
    assert sorted(path for path, _ in error.value.errors) == [
        "/fields/agreed",
        "/fields/code",
        "/fields/count",
        "/fields/extra",
        "/fields/share",
        "/fields/story",
        "/fields/title",
    ]
    assert app.statuses(run) == {"goals": "in_progress"}
    await app.submit_form(run, "goals", **ANSWERS, code="ABC", share=0.5)
    await app.wait_for_run(run, "completed")


@pytest.mark.parametrize(("format", "shown"), [("json", b'"goals": "grow"'), ("md", b"# Goals")])
async def test_a_form_becomes_an_artifact_in_the_declared_format(app: App, format: str, shown: bytes) -> None:
    pipeline = await app.pipeline(form("goals", outputs=[f"goals.{format}"]))
    run = await app.start(pipeline)
    await app.submit_form(run, "goals", goals="grow")
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    artifact = app.artifacts(run)[0]
    assert artifact.format == format
    assert (app.root(pipeline) / artifact.file_path).read_bytes() == app.content(artifact)
    assert shown in app.content(artifact)


async def test_a_form_without_outputs_creates_no_artifact(app: App) -> None:
    pipeline = await app.pipeline(form("goals", outputs=[]), step("next", "give_back"))
    run = await app.start(pipeline)
    await app.submit_form(run, "goals", goals="grow")
    await app.wait_for_run(run, "completed")
    assert app.execution(run, "goals").artifacts_generated == []
    assert app.output(run, "next")["goals"] == {"goals": "grow"}


async def test_an_uploaded_file_becomes_an_artifact(app: App) -> None:
    pipeline = await app.pipeline(form("goals", field("plan", "file"), outputs=["goals.json"]))
    run = await app.start(pipeline)
    content = os.urandom(3 * MEGABYTE + 17)
    uploaded = await upload(app, run, "goals", content, "C:\\secret\\..\\plan.bin")
    assert (uploaded.filename, uploaded.size_bytes, uploaded.checksum) == (
        "plan.bin",
        len(content),
        hashlib.sha256(content).hexdigest(),
    )
    with pytest.raises(InvalidInput) as error:
        await app.submit_form(run, "goals", plan="no-such-upload")
    assert error.value.errors == (("/fields/plan", mentions("'no-such-upload'")),)
    await app.submit_form(run, "goals", plan=uploaded.upload_id)
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    files = {a.artifact_name: a for a in app.artifacts(run)}
    assert files["plan"].checksum == uploaded.checksum
    assert (app.root(pipeline) / files["plan"].file_path).read_bytes() == content
    with pytest.raises(CommandRefused, match="completed"):
        await upload(app, run, "goals", b"late")


async def test_an_upload_belongs_to_one_execution(app: App) -> None:
    pipeline = await app.pipeline(form("goals", field("plan", "file"), outputs=["goals.json"]))
    first, second = await app.start(pipeline), await app.start(pipeline)
    uploaded = await upload(app, first, "goals", b"mine")
    with pytest.raises(InvalidInput):
        await app.submit_form(second, "goals", plan=uploaded.upload_id)
    with pytest.raises(NotFound):
        await app.cairn.uploads.add("unknown", "x", "text/plain", chunks(b"x"), actor=ADMIN)


async def test_a_large_upload_is_streamed_and_not_held_in_memory(app: App) -> None:
    """100 MB, which is the limit."""
    pipeline = await app.pipeline(form("goals", field("plan", "file"), outputs=["goals.json"]))
    run = await app.start(pipeline)
    block = os.urandom(MEGABYTE)
    digest = hashlib.sha256()

    async def stream(count: int) -> AsyncIterator[bytes]:
        for number in range(count):
            chunk = number.to_bytes(8, "big") + block[8:]
            digest.update(chunk)
            yield chunk

    execution = app.execution(run, "goals").execution_id
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    uploaded = await app.cairn.uploads.add(execution, "big.bin", "application/octet-stream", stream(100), actor=ADMIN)
    assert (uploaded.size_bytes, uploaded.checksum) == (100 * MEGABYTE, digest.hexdigest())
    await app.submit_form(run, "goals", plan=uploaded.upload_id)
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    plan = next(a for a in app.artifacts(run) if a.artifact_name == "plan")
    with (app.root(pipeline) / plan.file_path).open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == uploaded.checksum
    assert growth < 40, f"used {growth:.0f} MB more memory"


async def test_a_file_over_the_limit_is_rejected_while_it_is_received(app: App) -> None:
    pipeline = await app.pipeline(form("goals", field("plan", "file"), outputs=["goals.json"]))
    run = await app.start(pipeline)
    received = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal received
        while True:
            received += MEGABYTE
            yield bytes(MEGABYTE)

    execution = app.execution(run, "goals").execution_id
    with pytest.raises(TooLarge, match="104,857,600"):
        await app.cairn.uploads.add(execution, "big.bin", "text/plain", endless(), actor=ADMIN)
    assert received == 101 * MEGABYTE
    count = sa.select(sa.func.count()).select_from(t.uploads).where(t.uploads.c.execution_id == execution)
    assert app.cairn.database.read(lambda c: c.execute(count).scalar_one()) == 0
