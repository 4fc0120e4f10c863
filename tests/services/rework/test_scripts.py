"""A script requests a rework, waits without a process and continues with the new result."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from cairn.store import tables as t
from tests.services.app import App, retries
from tests.services.runs.test_scripts import script, script_processes

pytestmark = pytest.mark.asyncio(loop_scope="package")
TEST = """
def main(ctx):
    rounds = []
    while ctx.inputs["dev"]["n"] < {target}:
        answer = ctx.request_rework("dev", prompt=f"more than {{ctx.inputs['dev']['n']}}", reason="too small")
        rounds.append(answer.status)
    return {{"n": ctx.inputs["dev"]["n"], "rounds": rounds}}
"""


async def counting(app: App, test: dict[str, Any], **more: Any) -> str:
    """Create a pipeline whose dev checkpoint counts its executions."""
    created: list[int] = []

    @app.function("one_more")
    async def one_more(ctx: Any) -> dict[str, int]:
        created.append(1)
        return {"n": len(created)}

    dev = {
        "key": "dev",
        "execution": {"mode": "function", "function_config": {"function": "one_more"}},
        "outputs": ["dev.json"],
        **more,
    }
    return await app.pipeline(dev, test)


def requesting_until(n: int) -> dict[str, Any]:
    return script("test", source=TEST.format(target=n))


async def test_a_script_can_request_several_reworks(app: App) -> None:
    pipeline = await counting(app, requesting_until(3))
    run = await app.run_to_completion(pipeline)
    assert app.output(run, "test") == {"n": 3, "rounds": ["completed", "completed"]}
    requester = app.execution(run, "test")
    reworks = [e for e in app.executions(run) if e.parent_execution_id == requester.execution_id]
    assert [(e.checkpoint_key, e.status.value) for e in reworks] == [("dev", "completed")] * 2
    assert requester.attempt_number == 1
    c = t.execution_calls.c
    rows = app.cairn.database.read(
        lambda conn: conn.execute(
            sa.select(c.number, c.kind, c.arguments).where(c.execution_id == requester.execution_id).order_by(c.number)
        ).all()
    )
    assert [tuple(row) for row in rows] == [
        (n, "rework", {"checkpoint": "dev", "prompt": f"more than {n}", "reason": "too small"}) for n in (1, 2)
    ]


async def test_a_script_waits_for_a_rework_without_a_process(app: App) -> None:
    pipeline = await counting(app, requesting_until(2), approve="complete")
    run = await app.start(pipeline)
    await app.decide(run, "dev", "approve")
    await app.wait_until(lambda: app.execution(run, "test").waiting_on == "rework" or None)
    await app.wait_until_idle()
    await app.wait_until(lambda: script_processes() == [] or None, 1.0)
    await app.decide(run, "dev", "approve")
    await app.wait_for_run(run, "completed")
    assert app.output(run, "test") == {"n": 2, "rounds": ["completed"]}


async def test_a_script_continues_after_a_refused_rework(app: App) -> None:
    source = "def main(ctx):\n    return dict(ctx.request_rework('nobody', 'do it', 'why'))\n"
    pipeline = await app.pipeline(script("test", source=source))
    run = await app.run_to_completion(pipeline)
    answer = app.output(run, "test")
    assert (answer["status"], answer["artifacts"], answer["execution_id"]) == ("refused", [], None)
    assert "nobody" in answer["reason"]


async def test_a_retry_replays_recorded_calls_and_a_revision_does_not(app: App) -> None:
    source = (
        "def main(ctx):\n"
        "    answer = ctx.request_rework('dev', f'round {ctx.revision}', 'why')\n"
        "    if ctx.attempt == 1:\n        raise RuntimeError('once')\n"
        "    return {'status': answer.status, 'n': ctx.inputs['dev']['n']}\n"
    )
    pipeline = await counting(app, script("test", source=source, execution=retries(1), approve="complete"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "test", "waiting_approval_to_complete")
    assert app.output(run, "test") == {"status": "completed", "n": 2}
    await app.decide(run, "test", "revise", "again")
    await app.wait_until(lambda: app.execution(run, "test").revision_iteration == 1)
    await app.wait_for_execution(run, "test", "waiting_approval_to_complete")
    assert app.output(run, "test") == {"status": "completed", "n": 3}
    await app.decide(run, "test", "approve")
    await app.wait_for_run(run, "completed")
