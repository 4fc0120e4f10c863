"""A hanging test is cancelled and does not affect the next one."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from tests.isolation import within
from tests.services.app import App, step


async def test_a_hanging_test_is_cancelled_and_cleans_up() -> None:
    cleaned: list[str] = []

    async def hangs() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")

    with pytest.raises(TimeoutError):
        await within(0.01, hangs)()
    assert cleaned == ["up"]


async def test_a_server_starts_where_another_was_not_closed(tmp_path: Path) -> None:
    left, app = App(tmp_path / "left"), App(tmp_path / "next")
    await left.open()
    await app.open()
    try:
        await app.run_to_completion(await app.pipeline(step("goals")))
        await app.check()
    finally:
        await app.close()
        await left.close()


async def test_a_hanging_run_ends_with_its_test(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    @app.function("hangs")
    async def hangs(ctx: object) -> None:
        await asyncio.Event().wait()

    run = await app.start(await app.pipeline(step("goals", "hangs")))
    await app.wait_for_execution(run, "goals", "in_progress")
    monkeypatch.setattr("tests.services.app.PATIENCE", 0.05)
    with pytest.raises(TimeoutError):
        await app.check()
    monkeypatch.undo()
    assert app.run(run).status == "cancelled"


def test_ctrl_c_stops_a_background_server() -> None:
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
