"""An approved call of an MCP tool is made once with the modified arguments, even if the process dies at any step."""

from __future__ import annotations

from cairn.runners.agents.tools import mcp
from cairn.services.actors import ADMIN
from tests.chaos.scenario import Ids, Scenario
from tests.isolation import PATIENCE
from tests.mcp_servers import RecordingServer
from tests.runners.agent_samples import FakeModels, ToolCall
from tests.services.app import App
from tests.services.runs.test_agents import agent

FILE = "recorder-file"  # a secret, because the path belongs to the folder but not to the version of the server


def prepare_tools(app: App) -> None:
    """Add the recording server, and an agent that calls it once."""
    settings = RecordingServer(app.folder).settings
    app.settings = {"mcp_servers": {"recorder": {**settings, "env": {"RECORDER_FILE": f"secret:{FILE}"}}}}
    replies = [ToolCall("recorder_record", {"text": "900"}, "c1"), "Done."]
    app.models.current = FakeModels(lambda request: replies[request.answers])
    mcp.START_SECONDS = PATIENCE


async def pending_call(app: App) -> Ids:
    await app.cairn.secrets.save(FILE, str(app.folder / "calls.jsonl"), ADMIN)
    pipeline = await app.pipeline(agent("work", "report.md", agent={"tools": ["mcp:recorder/record"]}))
    run = await app.start(pipeline)
    approval = await app.wait_until(lambda: next(iter(app.run(run).pending_approvals), None))
    await app.wait_until_idle()
    return {"pipeline": pipeline, "run": run, "approval": approval.approval_id}


async def approve_call(app: App, ids: Ids) -> None:
    await app.cairn.secrets.save(FILE, str(app.folder / "calls.jsonl"), ADMIN)
    await app.cairn.approvals.decide(ids["approval"], "approve", modified_params={"text": "90"}, actor=ADMIN)
    await app.wait_for_run(ids["run"], "completed")
    await app.wait_until_idle()


def recorded(app: App) -> list[str]:
    return [call["text"] for call in RecordingServer(app.folder).calls]


async def check_called(app: App, ids: Ids) -> None:
    """The call was made once. If Cairn couldn't know, it asked a person, who looked it up."""

    def outcome() -> str | None:
        run = app.run(ids["run"])
        escalations = [a.approval_id for a in run.pending_approvals if a.kind == "escalation"]
        return "completed" if run.status == "completed" else next(iter(escalations), None)

    approval_id = await app.wait_until(outcome)
    if approval_id != "completed":
        assert len(recorded(app)) <= 1, "Cairn repeated a call that may have been made"
        await app.cairn.approvals.decide(approval_id, "accept" if recorded(app) else "retry", actor=ADMIN)
    await app.wait_for_run(ids["run"], "completed")
    await app.wait_until_idle()
    assert recorded(app) == ["90"]
    assert app.event_types(ids["run"]).count("action_done") == 1


SCENARIOS = {"call a tool": Scenario(pending_call, approve_call, check_called)}
