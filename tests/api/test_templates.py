"""Templates with agents complete on the simulated model, over HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cairn.adapters.simulated_model.documents import NOTE
from cairn.definitions import builtin_templates
from tests.api.app import App, Json, wait_until
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
AGENTS = [template.name for template in builtin_templates() if "agents" in template.uses]


@dataclass(frozen=True)
class CompletedRun:
    """A completed run of a template."""

    app: App
    run: Json
    executions: list[Json]
    decided: list[Json]  # approvals

    def of(self, key: str) -> Json:
        """The newest execution of a checkpoint."""
        return [execution for execution in self.executions if execution["checkpoint_key"] == key][-1]

    def file(self, key: str, name: str) -> str:
        """The content of a promoted artifact, read from disk."""
        (path,) = (
            artifact["file_path"]
            for artifact in self.of(key)["artifacts_generated"]
            if artifact["artifact_name"] == name
        )
        assert "/outputs/" in path
        folder = Path(self.app.cairn.settings.data_dir) / "pipelines" / self.run["pipeline_id"]
        return (folder / path).read_text()

    def json(self, key: str, name: str) -> Any:
        return json.loads(self.file(key, name))

    async def answers_of(self, key: str) -> list[Json]:
        """All messages of models in an execution."""
        path = f"/api/executions/{self.of(key)['execution_id']}/messages"
        messages = (await self.app.get(path, limit=100))["items"]
        spoken = [message for message in messages if message["role"] == "assistant"]
        assert spoken
        assert all(message["is_simulated"] for message in spoken)
        return spoken


async def run_template(app: App, name: str, correct: Json | None = None) -> CompletedRun:
    """Create a pipeline from a template, run it with its sample input and approve everything."""
    (template,) = (template for template in (await app.get("/api/templates"))["items"] if template["name"] == name)
    pipeline = await app.post("/api/pipelines", {"template": name}, 201)
    assert pipeline["warnings"] == []
    return await complete_run(app, await app.run(pipeline, input=template["sample_input"]), correct)


async def complete_run(app: App, run: Json, correct: Json | None = None) -> CompletedRun:
    decided: list[Json] = []

    async def approve_all() -> Json | None:
        now = await app.get(f"/api/runs/{run['run_id']}")
        assert now["status"] in ("in_progress", "completed"), now
        waiting = (await app.get("/api/approvals", status="pending", run_id=run["run_id"]))["items"]
        for approval in waiting:
            seen = await app.get(f"/api/approvals/{approval['approval_id']}")
            body = {"digest": seen["digest"]}
            if correct is not None and seen["kind"] == "action":
                body["modified_params"] = correct
            await app.put(f"/api/approvals/{seen['approval_id']}/approve", body)
            decided.append(seen)
        return now if now["status"] == "completed" else None

    completed = await wait_until(approve_all, 60)
    listed = (await app.get(f"/api/runs/{run['run_id']}/checkpoints", limit=50))["items"]
    executions = [await app.get(f"/api/executions/{execution['execution_id']}") for execution in listed]
    return CompletedRun(app, completed, executions, decided)


async def test_ticket_triage(app: App) -> None:
    """Fields pass from agent to agent with their types."""
    ended = await run_template(app, "ticket-triage")
    assert ended.json("analyze", "analysis") == {
        "ticket_id": "CS-1234",
        "customer_id": "CUST-5678",
        "category": "replacement",
        "priority": "medium",
        "summary": "The headphones of order 12345 stopped charging after two days. I have tried another cable.",
    }
    assert ended.json("customer_data", "customer_360") == {
        "customer_id": "CUST-5678",
        "name": "A customer",
        "email": "customer@example.com",
        "account_age_years": 3,
        "orders": 15,
        "open_tickets": 0,
    }
    solution = ended.json("solve", "solution")
    assert (solution["ticket_id"], solution["customer_id"]) == ("CS-1234", "CUST-5678")
    assert solution["solution"] == mentions("“Please send a replacement.”")
    assert (len(solution["steps"]), 0 < solution["confidence"] < 1) == (3, True)
    letter = ended.file("solve", "answer")
    assert letter.startswith("Subject: Your ticket CS-1234\n\nDear customer,\n\n")
    assert (NOTE in letter, [approval["kind"] for approval in ended.decided]) == (True, ["completion"])
    (spoken,) = await ended.answers_of("solve")
    assert (spoken["agent_name"], spoken["model"]) == ("Solution generator", "simulated:default")
    assert ended.of("solve")["usage"]["simulated_calls"] == 1


async def test_refund_by_an_agent(app: App) -> None:
    """A proposal with reasoning and confidence is modified and approved. The agent receives the decision."""
    ended = await run_template(app, "refund-by-agent", correct={"amount": 89.99})
    (proposal,) = ended.decided
    assert (proposal["operation_type"], proposal["risk_level"], proposal["confidence"]) == ("send_email", "high", 0.86)
    proposed = proposal["action"]["parameters"]
    assert (proposed["to"], proposed["subject"]) == ("customer@example.com", "Refund for order 12345")
    assert "We will refund {{ amount }} for order 12345." in proposed["body"]
    assert "“The headphones of order 12345 are defective.”" in proposal["action"]["reasoning"]
    assert proposal["action"]["supporting_data"]["Order"]["amount"] == 99.99
    assert ended.json("weigh", "refund")["amount"] == 99.99
    assert ended.json("send", "outcome") == {
        "outcome": "failed",  # there is no mail server
        "modified": True,
        "amount": 89.99,
        "to": "customer@example.com",
    }
    assert [call["name"] for answer in await ended.answers_of("send") for call in answer["tool_calls"]] == [
        "propose_action",
        "final_result",
    ]


async def test_business_analysis(app: App) -> None:
    """A council of three with reviews and a chair."""
    ended = await run_template(app, "business-analysis")
    spoken = await ended.answers_of("analysis")
    members = {"Market analyst", "Financial analyst", "Risk reviewer"}
    assert {message["agent_name"] for message in spoken} == {*members, "Chair"}
    assert len({message["content"] for message in spoken[:3]}) == 3
    assert len(spoken) == 7
    report = ended.file("analysis", "analysis")
    assert all(f"- **{name}**: “" in report for name in members)
    found = ended.json("recommendation", "recommendation")
    assert (found["budget_usd"], found["horizon_months"], found["decision"]) == (60000, 9, "do it")
    assert len({risk["risk"] for risk in found["risks"]}) == 3


async def test_requirements_to_design(app: App) -> None:
    """Each checkpoint reads earlier results, and the next run can read the previous version."""
    ended = await run_template(app, "requirements-to-design")
    requirements = ended.json("requirements", "requirements")["requirements"]
    assert [requirement["id"] for requirement in requirements] == [f"R{n}" for n in (1, 2, 3)]
    assert requirements[1]["requirement"] == "They sign in with a link that is sent to them."
    assert all(requirement["requirement"] in ended.file("design", "design") for requirement in requirements)
    diagram = ended.file("diagram", "architecture")
    assert diagram.startswith("flowchart TD\n")
    assert "[The portal shows every order]" in diagram
    assert [approval["checkpoint_name"] for approval in ended.decided] == ["Requirements", "Diagram"]
    again = await complete_run(app, await app.run({"pipeline_id": ended.run["pipeline_id"]}))
    context = await app.get(f"/api/executions/{again.of('design')['execution_id']}/context")
    assert "PREVIOUS VERSION" in json.dumps(context)
    assert again.run["run_version"] == 2


async def test_a_debate(app: App) -> None:
    """Two rounds, two sides and a judge. Each side answers the other."""
    ended = await run_template(app, "build-or-buy")
    spoken = await ended.answers_of("debate")
    assert [message["agent_name"] for message in spoken] == ["Builder", "Buyer", "Builder", "Buyer", "Judge"]
    facts = [
        "Two developers are free from April, and both know the order system.",
        "A bought portal costs 1,900 dollars a month and is ready within four weeks.",
    ]
    assert facts[0] in spoken[1]["content"].split("Builder says: ")[1]
    assert facts[1] in spoken[2]["content"].split("Buyer says: ")[1]
    decision = ended.json("debate", "decision")
    assert (decision["decision"], decision["reasons"][:2]) == ("build", facts)
    assert "- **Buyer, round 1**: “A bought portal" in ended.file("debate", "minutes")


async def test_develop_and_test(app: App) -> None:
    """The tester sends the work back once and continues with the corrected result."""
    ended = await run_template(app, "develop-and-test")
    assert [execution["checkpoint_key"] for execution in ended.executions] == ["develop", "test", "develop", "verify"]
    reworked = ended.of("develop")
    assert reworked["parent_execution_id"] == ended.of("test")["execution_id"]
    room: dict[str, Any] = {}
    exec(ended.file("develop", "function"), room)
    report = ended.json("test", "report")
    assert {year: room["is_leap"](int(year)) for year in report["cases"]} == report["cases"]
    assert (report["passed"], room["is_leap"](1900)) == (True, False)
    assert "`is_leap(year)`" in ended.file("verify", "verification")
    used = [call["name"] for answer in await ended.answers_of("test") for call in answer["tool_calls"]]
    assert used == ["request_rework", "final_result"]


async def test_templates_have_descriptions(app: App) -> None:
    found = {template["name"]: template for template in (await app.get("/api/templates"))["items"]}
    assert [name for name, template in found.items() if "agents" in template["uses"]] == AGENTS
    assert len(AGENTS) == 6
    refund = found["refund-by-agent"]
    assert refund["uses"] == ["agents", "people", "actions"]
    assert refund["sample_input"]["order"]["amount"] == 99.99
    assert found["product-discovery"]["sample_input"] is None
    assert found["product-discovery"]["checkpoints"][2] == {
        "key": "design",
        "name": "Design",
        "mode": "human_only",
        "requires_approval": "both",
    }
    assert found["text-report"]["uses"] == ["functions", "people"]
