"""The ledger of actions over HTTP: list, settle, revoke, repeats, the stop of actions and the hold after a restore."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from cairn.runners import Ctx, function
from cairn.services.actions import journal
from cairn.services.doctor.actions import check_journal
from cairn.services.doctor.machine import Machine
from cairn.store import tables as t
from cairn.store.actions import gate_state
from tests.api.app import App, Json
from tests.api.users import token_for

pytestmark = pytest.mark.asyncio(loop_scope="module")
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
STOP = "/api/rules/emergency-stop"


@function("test_gate.pay")
def pay(ctx: Ctx, account: str) -> Any:
    return dict(ctx.propose_action("financial_transaction", {"amount": 5, "currency": "USD", "account": account}))


async def proposed(app: App, account: str = "1") -> Json:
    """A run whose action waits for approval."""
    config = {"function": "test_gate.pay", "parameters": {"account": account}}
    checkpoint = {
        "key": "pay",
        "checkpoint_name": "Pay",
        "execution": {"mode": "function", "function_config": config},
        "outputs": ["paid.json"],
    }
    return await app.run(await app.pipeline(checkpoint))


async def pending(app: App, run: Json) -> Json:
    async def find() -> Json | None:
        items = (await app.get("/api/approvals", run_id=run["run_id"]))["items"]
        return await app.get(f"/api/approvals/{items[0]['approval_id']}") if items else None

    return await app.wait_until(find)


async def action_of(app: App, run: Json, *states: str) -> Json:
    async def find() -> Json | None:
        items = (await app.get("/api/actions", run_id=run["run_id"], state=list(states)))["items"]
        return items[0] if items else None

    return await app.wait_until(find)


async def done(app: App, run: Json) -> Json:
    """The run after its action was approved and executed."""
    approval = await pending(app, run)
    await app.put(f"/api/approvals/{approval['approval_id']}/approve", {"digest": approval["digest"]})

    async def completed() -> Json | None:
        found = await app.get(f"/api/runs/{run['run_id']}")
        return found if found["status"] == "completed" else None

    return await app.wait_until(completed)


async def repeated(app: App) -> tuple[Json, Json]:
    """A run that has executed an action, and the approval of the same action in the run that retries it."""
    first = await proposed(app)
    await done(app, first)
    again = await app.post(f"/api/runs/{first['run_id']}/retry", status=201)
    return first, await pending(app, again)


@asynccontextmanager
async def client_of(app: App, role: str) -> AsyncIterator[httpx.AsyncClient]:
    async with app.client_for(await token_for(app, role)) as client:
        yield client


async def make_unknown(app: App, action_id: str, reason: str = "") -> None:
    """What a lost connection or a merged journal leaves behind."""
    a = t.actions.c
    changes = {"state": "unknown", "was_unknown": True, "reason": reason}
    change = sa.update(t.actions).where(a.action_id == action_id).values(changes)
    await app.cairn.database.transact(lambda c: c.execute(change))


# ---- the ledger --------------------------------------------------------------------------------------------
async def test_actions_are_listed_newest_first_and_filtered(app: App) -> None:
    run = await proposed(app)
    waiting = await action_of(app, run, "waiting")
    assert (waiting["operation_type"], waiting["effect"], waiting["approved_by"]) == (
        "financial_transaction",
        "changes",
        "",
    )
    newest = await app.get("/api/actions", limit=1)
    assert (newest["items"], newest["next_cursor"] is None) == ([waiting], False) or newest["items"] == [waiting]
    assert (await app.get("/api/actions", run_id=run["run_id"], state="done"))["items"] == []
    assert (await app.get("/api/actions", run_id=run["run_id"], unsettled=True))["items"] == []
    assert (await app.get("/api/actions", operation_type="other"))["items"] == []
    of_pipeline = await app.get("/api/actions", pipeline_id=run["pipeline_id"])
    assert of_pipeline["items"] == [waiting]
    detail = await app.get(f"/api/actions/{waiting['action_id']}")
    assert detail["request"] == {"amount": 5, "currency": "USD", "account": "1"}
    assert (detail["run_id"], detail["votes"], detail["available_commands"]) == (run["run_id"], [], ["revoke"])
    assert detail["digest"] == (await pending(app, run))["digest"]
    for path in (f"/api/actions/{UNKNOWN_ID}", "/api/actions/nothing"):
        assert (await app.client.get(path)).status_code == 404
    assert (await app.client.get("/api/actions", params={"state": "begun"})).status_code == 422
    assert (await app.client.get("/api/actions/executed")).status_code == 422


async def test_the_ledger_of_a_family_has_what_was_executed(app: App) -> None:
    first, approval = await repeated(app)
    for run_id in (first["run_id"], approval["run_id"]):
        [executed] = (await app.get("/api/actions/executed", run_id=run_id))["items"]
        assert (executed["run_id"], executed["state"], executed["approved_by"]) == (first["run_id"], "done", "people")
    [vote] = (await app.get(f"/api/actions/{executed['action_id']}"))["votes"]
    assert (vote["by"], vote["choice"], vote["version"], vote["on_repeat"]) == ("admin", "approve", 1, None)


# ---- repeats -----------------------------------------------------------------------------------------------
async def test_a_repeat_needs_a_choice(app: App) -> None:
    first, approval = await repeated(app)
    path = f"/api/approvals/{approval['approval_id']}"
    [executed] = (await app.get("/api/actions/executed", run_id=first["run_id"]))["items"]
    for body in ({}, {"digest": approval["digest"]}):
        undecided = await app.put(f"{path}/approve", body, 409)
        assert undecided["choices"] == ["use_earlier", "execute_again"]
        assert undecided["digest"] == approval["digest"]
        [earlier] = undecided["repeats"]
        assert (earlier["id"], earlier["state"], earlier["at"]) == (
            executed["action_id"],
            "done",
            executed["proposed_at"],
        )
    assert (await app.client.put(f"{path}/approve", json={"on_repeat": "again"})).status_code == 422
    await app.put(f"{path}/approve", {"digest": "0" * 64, "on_repeat": "execute_again"}, 409)
    used = await app.put(f"{path}/approve", {"digest": approval["digest"], "on_repeat": "use_earlier"})
    assert (used["status"], used["action"]["state"], used["action"]["reused_from"]) == (
        "approved",
        "reused",
        executed["action_id"],
    )


async def test_a_repeat_is_executed_again_if_people_say_so(app: App) -> None:
    first, approval = await repeated(app)
    body = {"digest": approval["digest"], "on_repeat": "execute_again"}
    await app.put(f"/api/approvals/{approval['approval_id']}/approve", body)

    async def executed_twice() -> bool | None:
        items = (await app.get("/api/actions/executed", run_id=first["run_id"], state="done"))["items"]
        return True if [item["state"] for item in items] == ["done", "done"] else None

    assert await app.wait_until(executed_twice)


async def test_a_batch_leaves_out_repeats(app: App) -> None:
    _, repeat = await repeated(app)
    other = await pending(app, await proposed(app, "2"))
    items = [{"approval_id": each["approval_id"], "digest": each["digest"]} for each in (repeat, other)]
    result = await app.post("/api/approvals/batch", {"decision": "approve", "items": items})
    assert [(item["status"], item["error_message"] is None) for item in result["items"]] == [
        (None, False),
        ("approved", True),
    ]
    body = {"decision": "approve", "items": items[:1], "on_repeat": "use_earlier"}
    assert (await app.post("/api/approvals/batch", body))["decided"] == 1
    await app.post("/api/approvals/batch", body | {"on_repeat": "execute_again"}, 422)


async def test_a_batch_leaves_out_untrusted_proposals(app: App) -> None:
    approval = await pending(app, await proposed(app))
    action_id, path = approval["action"]["action_id"], f"/api/approvals/{approval['approval_id']}"
    mark = sa.update(t.actions).where(t.actions.c.action_id == action_id).values(untrusted=True)
    await app.cairn.database.transact(lambda c: c.execute(mark))
    item = {"approval_id": approval["approval_id"], "digest": approval["digest"]}
    result = await app.post("/api/approvals/batch", {"decision": "approve", "items": [item]})
    assert (result["decided"], result["failed"]) == (0, 1)
    unseen = await app.put(f"{path}/approve", {}, 409)  # without a digest, nothing shows that it was reviewed
    assert (unseen["repeats"], unseen["choices"], unseen["digest"]) == ([], [], approval["digest"])
    assert (await app.put(f"{path}/approve", {"digest": unseen["digest"]}))["status"] == "approved"


# ---- override ----------------------------------------------------------------------------------------------
async def test_only_admins_override_and_with_a_reason(app: App) -> None:
    approval = await pending(app, await proposed(app))
    path = f"/api/approvals/{approval['approval_id']}/approve"
    async with client_of(app, "approver") as approver:
        refused = await approver.put(path, json={"override": True, "reason": "urgent"})
        assert refused.status_code == 403
    await app.put(path, {"override": True}, 409)
    approved = await app.put(path, {"override": True, "reason": "urgent"})
    assert (approved["status"], approved["action"]["approved_by"]) == ("approved", "override")


# ---- unknown outcomes --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("answer", "state", "settled"),
    [("happened", "done", False), ("did_not_happen", "failed", False), ("give_up", "unknown", True)],
)
async def test_an_unknown_outcome_is_settled(app: App, answer: str, state: str, settled: bool) -> None:
    run = await proposed(app)
    action = await action_of(app, run, "waiting")
    path = f"/api/actions/{action['action_id']}"
    await app.post(f"{path}/settle", {"answer": answer}, 409)  # its outcome is not unknown
    await make_unknown(app, action["action_id"])
    assert (await app.get("/api/actions", run_id=run["run_id"], unsettled=True))["items"] != []
    assert (await app.get(path))["available_commands"] == ["happened", "did_not_happen", "send_again", "give_up"]
    for role in ("viewer", "editor"):
        async with client_of(app, role) as client:
            assert (await client.post(f"{path}/settle", json={"answer": answer})).status_code == 403
    async with client_of(app, "approver") as approver:
        response = await approver.post(f"{path}/settle", json={"answer": answer, "feedback": "I asked"})
        assert response.status_code == 200, response.text
        after = response.json()
    assert (after["state"], after["settled"], after["reported_by"]) == (state, settled, "person")
    await app.post(f"{path}/settle", {"answer": answer}, 409)
    await app.post(f"{path}/settle", {"answer": "maybe"}, 422)
    await app.post(f"/api/actions/{UNKNOWN_ID}/settle", {"answer": answer}, 404)


async def test_an_action_of_a_lost_run_is_settled(app: App) -> None:
    """A restored database can lack the run of an action that the journal knows."""
    [lost] = await merged(app)
    path = f"/api/actions/{lost}"
    assert ((await app.get(path))["state"], (await app.get(path))["request"]) == ("unknown", {})
    await app.post(f"{path}/settle", {"answer": "send_again"}, 409)
    settled = await app.post(f"{path}/settle", {"answer": "happened"})
    assert (settled["state"], settled["reported_by"]) == ("done", "person")
    await app.post("/api/actions/gate/release")


# ---- revoke ------------------------------------------------------------------------------------------------
async def test_an_approved_action_is_revoked(app: App) -> None:
    await app.put(STOP, {"stopped": True, "level": "actions", "reason": "odd"})
    try:
        run = await proposed(app)
        held = await action_of(app, run, "proposed")
        path = f"/api/actions/{held['action_id']}/revoke"
        for role in ("viewer", "editor"):
            async with client_of(app, role) as client:
                assert (await client.post(path, json={"reason": "no"})).status_code == 403
        await app.post(path, {}, 422)
        async with client_of(app, "approver") as approver:
            revoked = await approver.post(path, json={"reason": "The order was cancelled"})
        assert (revoked.status_code, revoked.json()["state"]) == (200, "refused")
        await app.post(path, {"reason": "again"}, 409)
    finally:
        await app.put(STOP, {"stopped": False})


# ---- the stop ----------------------------------------------------------------------------------------------
async def test_a_stop_of_actions_holds_proposals_until_an_admin_lifts_it(app: App) -> None:
    for role in ("viewer", "editor"):
        async with client_of(app, role) as client:
            assert (await client.put(STOP, json={"stopped": True, "reason": "odd"})).status_code == 403
    async with client_of(app, "approver") as approver:
        stopped = await approver.put(STOP, json={"stopped": True, "level": "actions", "reason": "odd"})
        assert (stopped.status_code, stopped.json()["level"]) == (200, "actions")
        gate = (await approver.get("/api/actions/gate")).json()
        assert (gate["stopped"], gate["held"]) == (True, False)
        run = await proposed(app)
        await action_of(app, run, "proposed")
        lowered = {"stopped": True, "level": "approvals", "reason": "odd"}
        for body in ({"stopped": False}, lowered):
            assert (await approver.put(STOP, json=body)).status_code == 403
    assert (await app.get("/api/health"))["actions"] == "stopped"
    checks = {check["name"]: check["status"] for check in (await app.get("/api/doctor"))["checks"]}
    assert checks["actions"] == "warning"
    await app.put(STOP, lowered)
    assert (await app.get("/api/health"))["actions"] == "running"
    await app.put(STOP, {"stopped": False})
    await action_of(app, run, "waiting")
    history = await app.get(f"{STOP}/history", limit=3)
    assert [change["level"] for change in history["items"]] == [None, "approvals", "actions"]
    await app.put(STOP, {"stopped": True, "level": "everything", "reason": "odd"}, 422)


# ---- the hold after a restore ------------------------------------------------------------------------------
async def merged(app: App) -> tuple[str, ...]:
    """Merge the start of an action that the database lacks."""
    family = "0" * 8 + "-0000-4000-8000-" + "1" * 12
    line = {
        "kind": "start",
        "journal": "lost",
        "seq": await app.cairn.database.aread(lambda c: gate_state.last_start(c, "lost")) + 1,
        "action": family[:-12] + f"{id(object()):012d}"[-12:],
        "family": family,
        "run": family,
        "pipeline": family,
        "execution": family,
        "checkpoint": family,
        "item": "",
        "generation": 0,
        "operation": "financial_transaction",
        "effect": "changes",
        "identity": "abc",
        "occurrence": None,
        "approved_by": "people",
        "rule": None,
        "window": None,
        "amount": None,
        "currency": None,
        "at": "2026-01-01T00:00:00+00:00",
    }
    now = app.cairn.clock.now()
    report = await app.cairn.database.transact(lambda c: journal.merge(c, [line], now))
    return report.actions


async def test_a_hold_ends_when_an_admin_has_reviewed_it(app: App) -> None:
    await app.post("/api/actions/gate/release", status=409)
    [lost] = await merged(app)
    gate = await app.get("/api/actions/gate")
    assert (gate["held"], gate["stopped"], [action["action_id"] for action in gate["unknown"]]) == (
        True,
        False,
        [lost],
    )
    assert (await app.get("/api/health"))["actions"] == "held"
    report = await app.get("/api/doctor")
    assert (report["healthy"], {check["name"]: check["status"] for check in report["checks"]}["actions"]) == (
        False,
        "error",
    )
    run = await proposed(app)
    await action_of(app, run, "proposed")
    for role in ("viewer", "editor", "approver"):
        async with client_of(app, role) as client:
            assert (await client.get("/api/actions/gate")).status_code == 200
            assert (await client.post("/api/actions/gate/release")).status_code == 403
    released = await app.post("/api/actions/gate/release")
    assert (released["held"], [action["action_id"] for action in released["unknown"]]) == (False, [lost])
    await action_of(app, run, "waiting")
    events = await app.get("/api/events", event_type=["actions_held", "actions_released"])
    assert [event["event_type"] for event in events["items"]][:2] == ["actions_released", "actions_held"]


@pytest.mark.parametrize(
    ("place", "status"), [("outside", "ok"), ("data/journal", "warning"), ("file/journal", "error")]
)
async def test_the_doctor_checks_the_place_of_the_journal(tmp_path: Path, place: str, status: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "file").write_text("")
    machine = Machine(tmp_path / "data", (), None, None)  # pyright: ignore[reportArgumentType]
    [check] = check_journal(machine, tmp_path / place)
    assert (check.name, check.status, bool(check.hint)) == ("journal", status, status != "ok")
