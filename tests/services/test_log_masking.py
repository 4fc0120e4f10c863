"""Secrets and personal data stay out of the logs."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.cli.server import install_log_masking
from cairn.services.actors import ADMIN
from cairn.services.secrets import MASKED, SecretStore
from cairn.store import Database
from cairn.store import tables as t
from tests.services.accounts import AccountsHarness
from tests.services.app import App, step

pytestmark = pytest.mark.asyncio(loop_scope="package")  # the app runs on one event loop

VALUE = "wide-open-sesame"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """The output of the server log."""
    buffer = io.StringIO()
    handler = logging.StreamHandler(buffer)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logging.getLogger().addHandler(handler)
    before = [(handler, handler.formatter) for handler in logging.getLogger().handlers]
    yield buffer
    for handler, formatter in before:
        handler.setFormatter(formatter)
    logging.getLogger().removeHandler(handler)


async def test_secrets_are_masked_in_the_server_log(database: Database, tmp_path: Path, stream: io.StringIO) -> None:
    harness = AccountsHarness(database, tmp_path)
    secrets = SecretStore(harness.admin_changes, harness.secrets._keys, other_values=["the admin's own token"])  # pyright: ignore[reportPrivateUsage]
    install_log_masking(secrets.mask_loaded)
    install_log_masking(secrets.mask_loaded)  # installing it twice is harmless
    await secrets.save("door", VALUE, ADMIN)
    log = logging.getLogger("test of masking")
    log.warning("opening with %s, %s", VALUE, "the admin's own token")
    log.warning("Authorization: Bearer abcdefghijkl; mail to somebody@example.com")
    try:
        int(VALUE)
    except ValueError:
        log.exception("it failed")
    output = stream.getvalue()
    assert f"WARNING opening with {MASKED}, {MASKED}\n" in output
    assert "it failed\nTraceback" in output
    for word in (VALUE, "admin's own", "abcdefghijkl", "somebody@"):
        assert word not in output


async def test_secrets_are_masked_in_execution_logs(app: App) -> None:
    await app.cairn.secrets.save("door", VALUE, ADMIN)
    run = await app.run_to_completion(await app.pipeline(step("goals")))
    execution = app.execution(run, "goals")
    pipeline = app.run(run).pipeline_id
    speaker: Any = SimpleNamespace(pipeline_id=pipeline, run_id=run, execution_id=execution.execution_id, dispatch=1)
    app.cairn.log_writer.add_line(speaker, "info", f"tried {VALUE}", {"with": [VALUE, 1], "deep": {"er": VALUE}})
    await app.cairn.log_writer.flush()
    logs = t.execution_logs.c
    row = await app.cairn.database.aread(
        lambda c: c.execute(sa.select(logs.message, logs.details).where(logs.message.like("tried%"))).one()
    )
    assert (row.message, row.details) == (f"tried {MASKED}", {"with": [MASKED, 1], "deep": {"er": MASKED}})
    await app.cairn.secrets.remove("door", ADMIN)


async def test_lines_that_cannot_be_written_do_not_affect_others(app: App) -> None:
    """For deleted executions and for values that can't be stored."""
    run = await app.run_to_completion(await app.pipeline(step("goals")))
    pipeline, execution = app.run(run).pipeline_id, app.execution(run, "goals").execution_id

    def speaker(execution_id: str) -> Any:
        return SimpleNamespace(pipeline_id=pipeline, run_id=run, execution_id=execution_id, dispatch=1)

    for number, (broken, value) in enumerate((("gone", 1), (execution, object()))):
        app.cairn.log_writer.add_line(speaker(broken), "info", "lost", {"value": value})
        app.cairn.log_writer.add_line(speaker(execution), "info", f"kept {number}")
        await app.cairn.log_writer.flush()
        assert app.cairn.log_writer.is_empty
    app.cairn.log_writer.add_line(speaker(execution), "info", "kept last")
    await app.cairn.log_writer.flush()
    logs = t.execution_logs.c
    found = await app.cairn.database.aread(
        lambda c: c.execute(sa.select(logs.message).where(logs.message.like("kept%"))).scalars().all()
    )
    assert "kept 0" in found
    assert "kept last" in found
