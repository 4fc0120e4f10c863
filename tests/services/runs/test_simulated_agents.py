"""Whole runs with agents on the simulated model, without any key."""

from __future__ import annotations

import ast
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from cairn.adapters.models.catalogue import ModelPolicy, PydanticAiModels
from cairn.adapters.simulated_model import SimulatedModelFactory
from cairn.definitions import check_value
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.adapters.models.requests import no_secret
from tests.services.app import App, retries, step
from tests.services.runs.test_agents import agent

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]
TICKET = {
    "ticket_id": "T-7",
    "email": "ops@acme.example",
    "text": "The invoice export has been broken since Monday. It is urgent.",
    "amount": 129.5,
}
TRIAGE: Json = {
    "type": "object",
    "properties": {
        "ticket_id": {"type": "string", "pattern": "^T-[0-9]+$"},
        "priority": {"enum": ["low", "medium", "urgent"]},
        "summary": {"type": "string", "minLength": 10, "maxLength": 300},
        "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}, "minItems": 1},
    },
    "required": ["ticket_id", "priority", "summary", "steps"],
    "$defs": {
        "step": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "hours": {"type": "number", "minimum": 0.5}},
            "required": ["title", "hours"],
            "additionalProperties": False,
        }
    },
}


@pytest_asyncio.fixture(loop_scope="package", autouse=True)
async def simulated(app: App) -> AsyncIterator[PydanticAiModels]:
    models = PydanticAiModels(ModelPolicy(first_wait=0.0), no_secret, {}, SimulatedModelFactory())
    app.minds.own = models
    yield models
    await models.close()


def files_of(app: App, run: str, key: str) -> dict[str, bytes]:
    made = app.execution(run, key).artifacts_generated
    return {f"{one.artifact_name}.{one.format}": app.content(one) for one in made}


@pytest.mark.parametrize("tools", [[], ["file_operations"]])
@pytest.mark.parametrize("layout", ["markdown", "xml", "json"])
async def test_every_format_and_a_schema_in_one_go(app: App, tools: list[str], layout: str) -> None:
    """As one object and with tools; the next checkpoint reads the result."""
    injection = {"instructions": {"injection_format": {"content_format": layout}}}
    sorted_out = {"name": "triage", "format": "json", "schema": TRIAGE}
    triage = agent("triage", sorted_out, agent={"tools": tools}, **injection)
    outputs = ["report.md", "flow.mmd", "rows.csv", "check.py", "page.html", "mail.txt", "data.json"]
    report = agent(
        "report",
        *outputs,
        agent={"tools": tools},
        inputs={"include_checkpoint_outputs": [{"checkpoint_id": "triage"}]},
        **injection,
    )
    run = await app.done(await app.pipeline(triage, report), input=TICKET)
    made = json.loads(files_of(app, run, "triage")["triage.json"])
    assert check_value(TRIAGE, made) == []
    assert (made["ticket_id"], made["priority"]) == ("T-7", "urgent")
    files = files_of(app, run, "report")
    assert sorted(files) == sorted(outputs)
    ast.parse(files["check.py"])
    assert b"Simulated: made by the built-in model" in files["report.md"]
    assert app.execution(run, "report").attempt_number == 1


@pytest.mark.parametrize("mode", ["sequential", "parallel", "council", "debate"])
async def test_discussions(app: App, mode: str) -> None:
    agents = [{"name": "Analyst", "role": "You look at numbers."}, {"name": "Critic", "role": "You are against it."}]
    config = {"creation_mode": "predefined", "discussion_mode": mode, "agents": agents, "max_turns": 4}
    run = await app.done(await app.pipeline(agent("plan", "plan.md", config=config)), input=TICKET)
    assert files_of(app, run, "plan")["plan.md"].startswith(b"# Plan\n")


async def test_a_team_that_an_agent_designs(app: App) -> None:
    config = {
        "creation_mode": "meta_agent",
        "meta_agent_instructions": "Create 3 agents for designing a mobile app.",
        "max_agents": 3,
        "discussion_mode": "council",
    }
    run = await app.done(await app.pipeline(agent("design", "design.md", "app.json", config=config)))
    assert sorted(files_of(app, run, "design")) == ["app.json", "design.md"]


async def test_a_judge_and_a_near_miss(app: App) -> None:
    """A custom prompt passes a good result; a scripted failure is corrected by the next attempt."""
    validation = {"validation_mode": "llm_custom", "custom_validation_prompt": "Is it polite?"}
    artifacts = [{"name": "note", "format": "md"}]
    checked = {"output": {"artifacts": artifacts, "validation": validation}}
    good = agent("note", **checked)
    good.pop("outputs")
    assert app.execution(await app.done(await app.pipeline(good)), "note").attempt_number == 1
    bad = agent("note", agent={"model_settings": _steps({"attempt": 1, "artifacts": {"note": "TODO"}})}, **checked)
    bad.pop("outputs")
    run = await app.done(await app.pipeline(bad))
    assert app.execution(run, "note").attempt_number == 2
    note = files_of(app, run, "note")["note.md"]
    assert b"TODO" not in note
    assert b"What validation has found is put right." in note


def _steps(*steps: Json) -> Json:
    return {"simulation": list(steps)}


async def test_faults_as_they_are_written_down(app: App) -> None:
    """Retried within a call and by the checkpoint; each attempt is logged."""
    settings = _steps(
        {"attempt": 1, "fail": "overload"}, {"attempt": 2, "call": 1, "fail": "network", "after": 30}, {"say": "Done."}
    )
    note = agent("note", "note.md", agent={"model_settings": settings}, execution=retries(1))
    run = await app.done(await app.pipeline(note))
    assert (app.execution(run, "note").attempt_number, files_of(app, run, "note")) == (2, {"note.md": b"Done."})
    final = agent("note", "note.md", agent={"model": "simulated:authentication"}, execution=retries(3))
    stopped = await app.start(await app.pipeline(final))
    await app.until_run(stopped, "paused")
    failed = app.execution(stopped, "note")
    assert failed.error_details.last_error is not None
    assert (failed.attempt_number, failed.error_details.last_error.error_type) == (1, "authentication")
    await app.cairn.runs.cancel(stopped, actor=ADMIN)


async def test_an_action_is_proposed_and_carried_out(app: App) -> None:
    """With reasoning and confidence; a valid e-mail."""
    refund = agent("refund", "note.md", agent={"tools": ["propose_action"]})
    refund["prompt"] = "Propose to send an email about the refund."
    run = await app.start(await app.pipeline(refund), input=TICKET)
    asked = await app.until(lambda: next(iter(app.run(run).pending_approvals), None))
    detail = app.cairn.approval_queries.get_approval(asked.approval_id, ADMIN)
    assert detail.action is not None
    assert (detail.confidence, detail.action.operation_type) == (0.86, "send_email")
    assert detail.action.parameters["to"] == TICKET["email"]
    await app.cairn.approvals.decide(asked.approval_id, "approve", digest=asked.digest, actor=ADMIN)
    await app.until_run(run, "completed")


async def test_work_is_sent_back_and_people_are_asked(app: App) -> None:
    done: list[str] = []

    @app.does("draft")
    async def draft(ctx: Ctx) -> Json:
        done.append(ctx.rework.prompt if ctx.rework is not None else "")
        return {"text": f"Draft {len(done)}"}

    test = agent("test", "note.md", agent={"tools": ["request_rework", "ask_human"]})
    test["prompt"] = "Test the draft. Ask where it is unclear; if it fails, send it back."
    run = await app.start(await app.pipeline(step("draft", "draft"), test))
    waiting = await app.until(lambda: next((one for one in app.executions(run) if one.waiting_on == "question"), None))
    await app.cairn.executions.submit(waiting.execution_id, {"answer": "All of it."}, actor=ADMIN)
    await app.until_run(run, "completed")
    assert (len(done), done[0], done[1] != "") == (2, "", True)
