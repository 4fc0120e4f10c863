"""A restored database does not execute again what was executed after the backup."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from cairn.core.errors import CommandRefused
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.services.actions.deciding import actions, decide, question, questions, states
from tests.services.actions.test_stories import APPROVE_FIVE, PAY, Bank, paying
from tests.services.app import App, step
from tests.services.rule_files import rule

pytestmark = pytest.mark.asyncio(loop_scope="function")
Json = dict[str, Any]


def back_up(app: App) -> dict[Path, Path]:
    """Copy the SQLite files. Returns the copies by original."""
    copies: dict[Path, Path] = {}
    for file in app.folder.glob("cairn.db"):
        copies[file] = copy = file.with_suffix(".backup")
        with sqlite3.connect(file) as source, sqlite3.connect(copy) as target:
            source.backup(target)
    assert copies
    return copies


async def restore(app: App, copies: dict[Path, Path]) -> None:
    await app.close()
    for file, copy in copies.items():
        for extra in ("-wal", "-shm"):
            file.with_name(file.name + extra).unlink(missing_ok=True)
        copy.replace(file)
    await app.open()


async def test_what_was_executed_after_the_backup_is_unknown_until_people_settle_it(app: App) -> None:
    if not app.is_sqlite:
        pytest.skip("the test copies the database file")
    bank = Bank()
    pipeline = await app.pipeline(paying(app, bank, "A"), actions=PAY)
    run = await app.start(pipeline)
    detail = await question(app, run)
    copies = back_up(app)
    await decide(app, detail)
    await app.wait_for_run(run, "completed")
    assert len(bank.paid) == 1

    await restore(app, copies)
    gate = app.cairn.actions.gate
    assert gate.status().held
    assert states(app, run) == ["unknown"]
    await gate.end_hold(ADMIN)
    assert not gate.status().held
    doubt = await question(app, run, kind="outcome")
    await decide(app, doubt, "happened")
    await app.wait_for_run(run, "completed")
    assert (len(bank.paid), states(app, run)) == (1, ["done"])


async def test_actions_that_the_restored_database_lacks_count_as_executed(app: App) -> None:
    """Rules approve nothing while it is held, and the limit counts what was forgotten."""
    if not app.is_sqlite:
        pytest.skip("the test copies the database file")
    bank, ready = Bank(), [False]

    @app.function("pay")
    async def pay(ctx: Ctx) -> Json:
        return await ctx.perform("pay", {"amount": 5, "account": "A"}, bank.pay)

    pipeline = await app.pipeline(step("before", approve="start"), step("pay", "pay"), actions=PAY)
    await rule(app, APPROVE_FIVE, pipeline)
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "before", "waiting_approval_to_start")
    copies = back_up(app)
    await app.decide(run, "before", "approve")
    await app.wait_for_run(run, "completed")
    assert (len(bank.paid), questions(app, run), ready) == (1, 0, [False])

    await restore(app, copies)
    (forgotten,) = actions(app, run)
    assert (forgotten.state, forgotten.operation_type) == ("unknown", "pay")
    await app.decide(run, "before", "approve")
    await app.wait_until(lambda: states(app, run) == ["unknown", "proposed"] or None)
    await app.wait_until_idle()
    assert (len(bank.paid), questions(app, run)) == (1, 0)
    await app.cairn.actions.gate.end_hold(ADMIN)
    repeat = await question(app, run)
    assert repeat.action is not None
    assert [each.action_id for each in repeat.action.repeats] == [forgotten.action_id]
    with pytest.raises(CommandRefused):  # the earlier one has to be settled first
        await decide(app, repeat, on_repeat="execute_again")
    assert len(bank.paid) == 1
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_persons_no_survives_a_restored_database(app: App) -> None:
    if not app.is_sqlite:
        pytest.skip("the test copies the database file")
    bank = Bank()
    pipeline = await app.pipeline(paying(app, bank, "A"), actions=PAY)
    run = await app.start(pipeline)
    detail = await question(app, run)
    copies = back_up(app)
    await decide(app, detail, "reject")
    await app.wait_for_run(run, "failed")
    await restore(app, copies)
    assert app.cairn.actions.gate.status().held
    await app.cairn.actions.gate.end_hold(ADMIN)
    await rule(app, APPROVE_FIVE, pipeline)
    await app.cairn.runs.cancel(run, actor=ADMIN)
    again = (await app.cairn.runs.retry(run, actor=ADMIN)).run_id
    await question(app, again)
    assert bank.paid == []
    await app.cairn.runs.cancel(again, actor=ADMIN)
