"""Unknown tools of agents are reported with their path."""

from __future__ import annotations

from typing import Any

from cairn.definitions import check
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
