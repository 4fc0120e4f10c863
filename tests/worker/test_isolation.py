"""A test that hangs is ended, and what it leaves does not disturb the next one."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from tests.isolation import within
from tests.services.house import House, step


async def test_a_test_without_end_is_cancelled_and_cleans_up() -> None:
    cleaned: list[str] = []

    async def hangs() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")

    with pytest.raises(TimeoutError):
        await within(0.01, hangs)()
    assert cleaned == ["up"]


async def test_a_house_starts_where_another_was_left_open(tmp_path: Path) -> None:
    left, house = House(tmp_path / "left"), House(tmp_path / "next")
    await left.open()
    await house.open()
    try:
        await house.done(await house.pipeline(step("goals")))
        await house.check()
    finally:
        await house.close()
        await left.close()


async def test_a_run_that_hangs_ends_with_its_test(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    @house.does("hangs")
    async def hangs(ctx: object) -> None:
        await asyncio.Event().wait()

    run = await house.start(await house.pipeline(step("goals", "hangs")))
    await house.until_execution(run, "goals", "in_progress")
    monkeypatch.setattr("tests.services.house.PATIENCE", 0.05)
    with pytest.raises(TimeoutError):
        await house.check()
    monkeypatch.undo()
    assert house.run(run).status == "cancelled"


def test_ctrl_c_is_heard_also_in_the_background() -> None:
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
