"""Unknown tools of agents are reported with their path."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from cairn.definitions import authoring_schema, check, load
from tests.mentions import mentions


def findings(config: dict[str, Any], servers: set[str] | None = None) -> list[tuple[str, str]]:
    step = {"key": "a", "prompt": "Go.", "execution": {"mode": "agentic", "agent_config": config}}
    document: Any = {"pipeline_name": "P", "checkpoints": [step]}
    return [(finding.path, finding.message) for finding in check(document, servers=servers)]


def test_an_unknown_tool_is_reported_with_its_path() -> None:
    ((path, message),) = findings({"tools": ["file_operations", "fly"]})
    assert path == "/checkpoints/0/execution/agent_config/tools/1"
    assert message == mentions("file_operations", "code_execution", "web_search", "propose_action", '"fly"')


def test_an_unknown_mcp_server_is_reported_for_every_agent() -> None:
    config = {
        "creation_mode": "predefined",
        "tools": ["mcp:github", "mcp:gihtub/issues"],
        "agents": [
            {"name": "A", "task_prompt": "X", "tools": ["mcp:github/issues"]},
            {"name": "B", "task_prompt": "X", "tools": ["ask_human", "mcp:none"]},
        ],
    }
    remedy = "mcp_servers"
    assert findings(config, {"github"}) == [
        (
            "/checkpoints/0/execution/agent_config/tools/1",
            mentions("MCP", "'gihtub'", "'github'", remedy),
        ),
        (
            "/checkpoints/0/execution/agent_config/agents/1/tools/1",
            mentions("MCP", "'none'", "'github'", remedy),
        ),
    ]
    assert findings(config) == [], "without settings, any server is valid"
    single = {"agent": {"name": "A", "tools": ["mcp:none"]}}
    assert [path for path, _ in findings(single, set())] == ["/checkpoints/0/execution/agent_config/agent/tools/0"]


def test_only_agents_have_an_approval_of_tools() -> None:
    """Also in the short forms, which editors check with the published schema."""
    editor = jsonschema_rs.validator_for(authoring_schema())
    by_agent: dict[str, Any] = {"key": "a", "agent": {"name": "A", "role": "x", "task_prompt": "y"}}
    for approval in ("ask", "by_rules", "never"):
        document: Any = {"pipeline_name": "P", "checkpoints": [{**by_agent, "tool_approval": approval}]}
        assert load(document).definition.checkpoints[0].tool_approval == approval
        assert editor.is_valid(document)
    assert load({"pipeline_name": "P", "checkpoints": [by_agent]}).definition.checkpoints[0].tool_approval == "ask"
    others: list[dict[str, Any]] = [{"form": ["x"]}, {"script": "a.py"}, {"function": "samples.count_words"}]
    for other in others:
        document = {"pipeline_name": "P", "checkpoints": [{"key": "a", **other, "tool_approval": "ask"}]}
        assert [finding.path for finding in check(document)] == ["/checkpoints/0/tool_approval"], other
        assert not editor.is_valid(document), other


def test_a_name_of_a_tool_may_contain_a_slash() -> None:
    assert findings({"tools": ["mcp:files/read/all"]}) == []
    assert [path for path, _ in findings({"tools": ["mcp:files/read all"]})] == [
        "/checkpoints/0/execution/agent_config/tools/0"
    ]
