"""Commands for models."""

from __future__ import annotations

from tests.cli.shell import Shell
from tests.mentions import mentions


def test_models_are_listed(shell: Shell) -> None:
    listed = shell("models").out.splitlines()
    assert listed[0] == mentions("simulated:default")
    assert listed[1] == mentions("genai-prices")
    rows = [line.split()[:2] for line in listed[3:]]
    assert ["simulated", "yes"] in rows
    assert "no" not in [ready for _, ready in rows]
    every = shell("models", "list", "--all").out
    assert every == mentions("ANTHROPIC_API_KEY")
    assert shell.json("models")["is_simulated"] is True


def test_a_model_is_tested(shell: Shell) -> None:
    output = shell("models", "test").out
    assert output == mentions("simulated:default", "'ready'", "$0.000000")
    failed = shell("models", "test", "simulated:rate-limit", code=1).out
    assert failed == mentions("simulated:rate-limit", "429", "rate_limit")
    missing = shell("models", "test", "anthropic:claude-sonnet-5-5", code=1).out
    assert missing == mentions("anthropic:claude-sonnet-5-5", "ANTHROPIC_API_KEY")
    assert shell.json("models", "test", "zzz:m", code=1)["error_type"] == "not_configured"
