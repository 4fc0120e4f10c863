"""Executions continue when an approved action can't start: blocked, withdrawn, held or without a journal."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.core.action_start import StartCheck, StartVerdict, check_start
from cairn.core.states import RunStatus
from cairn.ports.journal import JournalError
from cairn.services.actions import sender
from cairn.services.actors import ADMIN
from tests.adapters.servers import answer
from tests.services.actions.test_gate import PAY, PERFORM, POST, pending, states
from tests.services.app import App
from tests.services.runs.test_scripts import script

pytestmark = pytest.mark.asyncio(loop_scope="package")
KINDS = ["sent by Cairn", "handed over"]


async def start(app: App, kind: str) -> str:
    app.web.handlers["/held"] = answer(200, b"{}")
    if kind == "handed over":
        return await app.start(await app.pipeline(script("pay", source=PERFORM), actions=PAY))
    return await app.start(await app.pipeline(script("pay", source=POST % app.web.url("/held"))))


async def approve(app: App, run: str) -> None:
    detail = await pending(app, run)
    await app.cairn.approvals.decide(detail.approval_id, "approve", digest=detail.digest, actor=ADMIN)


async def ended(app: App, run: str) -> RunStatus:
    def status() -> RunStatus | None:
        found = RunStatus(app.run(run).status)
        return None if found is RunStatus.IN_PROGRESS else found

    return await app.wait_until(status, 15)


def first_check(monkeypatch: pytest.MonkeyPatch, verdict: StartVerdict) -> None:
    """Let the first check of a start have this result."""
    verdicts = [verdict]

    def check(*of: Any) -> StartCheck:
        return StartCheck(verdicts.pop(), "why") if verdicts else check_start(*of)

    monkeypatch.setattr(sender, "check_start", check)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_proposer_is_told_that_its_action_is_no_longer_allowed(
    app: App, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, run = len(app.web.requests), await start(app, kind)
    await pending(app, run)
    first_check(monkeypatch, StartVerdict.BLOCK)
    await approve(app, run)
    assert await ended(app, run) is RunStatus.PAUSED
    assert (states(app, run), app.run(run).pending_approvals, len(app.web.requests)) == (["refused"], [], before)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_withdrawn_action_is_proposed_again(app: App, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = await start(app, kind)
    await pending(app, run)
    first_check(monkeypatch, StartVerdict.WITHDRAW)
    await approve(app, run)
    await approve(app, run)
    assert await ended(app, run) is RunStatus.COMPLETED
    assert states(app, run) == ["withdrawn", "done"]


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_is_sent_without_a_line_in_the_journal(
    app: App, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Any) -> None:
        raise JournalError("The disk is full.")

    before, run = len(app.web.requests), await start(app, kind)
    await pending(app, run)
    monkeypatch.setattr(app.cairn.actions.journal, "append", full)
    await approve(app, run)
    assert await ended(app, run) is RunStatus.PAUSED
    assert (states(app, run), len(app.web.requests)) == (["failed"], before)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_action_that_is_stopped_starts_when_the_stop_is_lifted(app: App, kind: str) -> None:
    run = await start(app, kind)
    await pending(app, run)
    await app.cairn.rules.stop(True, "an incident", ADMIN, "actions")
    await approve(app, run)
    await app.wait_until(lambda: states(app, run) == ["approved"] or None, 15)
    assert RunStatus(app.run(run).status) is RunStatus.IN_PROGRESS
    await app.cairn.rules.stop(False, "", ADMIN)
    assert await ended(app, run) is RunStatus.COMPLETED
    assert states(app, run) == ["done"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_stop_that_ends_before_its_execution_waits_does_not_hold_it(
    app: App, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lifting the stop continues what waits, and this execution does not wait yet."""
    run = await start(app, kind)
    await pending(app, run)
    first_check(monkeypatch, StartVerdict.HOLD)
    await approve(app, run)
    assert await ended(app, run) is RunStatus.COMPLETED
    assert states(app, run) == ["done"]
