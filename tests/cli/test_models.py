"""Models in a terminal (A2, F3)."""

from __future__ import annotations

from tests.cli.shell import Shell


def test_models(shell: Shell) -> None:
    listed = shell("models").out.splitlines()
    assert listed[0] == "default: simulated:default (simulated: no provider is asked)"
    assert listed[1].startswith("prices: genai-prices ")
    rows = [line.split()[:2] for line in listed[3:]]
    assert ["simulated", "yes"] in rows
    assert "no" not in [ready for _, ready in rows]
    every = shell("models", "list", "--all").out
    assert "set ANTHROPIC_API_KEY in the server's environment, or keep it as a secret of that name" in every
    assert shell.json("models")["is_simulated"] is True


def test_a_model_is_tried_out(shell: Shell) -> None:
    told = shell("models", "test").out
    assert told.startswith("simulated:default answers in ")
    assert "s: 'ready' (" in told
    assert told.endswith("$0.000000, simulated)\n")
    failed = shell("models", "test", "simulated:rate-limit", code=1).out
    assert failed.startswith("simulated:rate-limit: too many requests or tokens in a short time (429).")
    assert "(rate_limit, after " in failed
    missing = shell("models", "test", "anthropic:claude-sonnet-5-5", code=1).out
    assert "there is no key for it" in missing
    assert shell.json("models", "test", "zzz:m", code=1)["fault"] == "not_configured"
