"""Model settings and scripts of the simulated model are checked when a definition is saved."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.definitions import DefinitionLimits, load
from tests.definitions.corpus import pipeline
from tests.definitions.expected_findings import errors
from tests.mentions import mentions

SETTINGS: dict[str, Any] = {
    "temperature": 0.2,
    "max_tokens": 500,
    "thinking": "low",
    "anthropic_effort": "high",
    "fallbacks": ["openai:gpt-5", "ollama:qwen3"],
    "simulation": [
        {"attempt": [1, 2], "fail": "rate_limit", "retry_after": 2},
        {"call": 1, "when": "Draft", "use": "ask_human", "arguments": {"question": "Which one?"}},
        {"artifacts": {"report": "# Given", "extra": None}},
        {"output": [1, None]},
        {"say": ""},
    ],
}


def agentic(**settings: Any) -> dict[str, Any]:
    config = {"agent": {"name": "Writer", "task_prompt": "Write."}, "model_settings": settings}
    return {"key": "a", "execution": {"mode": "agentic", "agent_config": config}, "outputs": ["report.md"]}


def test_model_settings_are_stored_unchanged() -> None:
    loaded = load(pipeline(agentic(**SETTINGS)), limits=DefinitionLimits())
    config = loaded.definition.checkpoints[0].execution.agent_config
    assert config is not None
    assert config.model_settings == SETTINGS


@pytest.mark.parametrize(
    ("settings", "pointer", "message"),
    [
        ({"temprature": 1}, "", mentions("`temprature`", "`temperature`")),
        ({"temperature": 3}, "/temperature", mentions("2", "3")),
        (
            {"fallbacks": ["a model"]},
            "/fallbacks/0",
            mentions('"a model"'),
        ),
        (
            {"simulation": [{"fail": "overload", "say": "x"}]},
            "/simulation/0",
            mentions('{"fail":"overload","say":"x"}'),
        ),
        (
            {"simulation": [{"attempt": 1}]},
            "/simulation/0",
            mentions('{"attempt":1}'),
        ),
        ({"simulation": [{"say": "x", "retry_after": 1}]}, "/simulation/0", mentions("`fail`")),
    ],
)
def test_invalid_model_settings_are_reported_with_their_path(
    settings: dict[str, Any], pointer: str, message: str
) -> None:
    path = f"/checkpoints/0/execution/agent_config/model_settings{pointer}"
    assert errors(agentic(**settings)) == [(path, message)]
