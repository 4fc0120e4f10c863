"""A checkpoint with a schema completes with a small real model, which another process serves over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.server import Server
from tests.runners.script_samples import wait_until

SCRIPT = Path(__file__).parents[3] / "scripts" / "small_model.py"
UNAVAILABLE = 75
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "mood": {"enum": ["glad", "sad"]},
        "stars": {"enum": [1, 2, 3, 4, 5]},
        "again": {"type": "boolean"},
    },
    "required": ["mood", "stars", "again"],
    "additionalProperties": False,
}
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]


@pytest.fixture
def address(tmp_path: Path) -> Generator[str]:
    """The base URL of the model. Skips the test if its packages can't be installed, except in CI."""
    with (tmp_path / "model.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    with process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            exit_code, reason = process.wait(20), (tmp_path / "model.log").read_text()[-1000:]
            if exit_code == UNAVAILABLE and not os.environ.get("CI"):
                pytest.skip(reason)
            raise AssertionError(reason)
        yield address
        process.kill()


def test_a_checkpoint_with_a_schema_completes_with_a_real_model(address: str, tmp_path: Path) -> None:
    server = Server(
        tmp_path,
        CAIRN_MODEL_PROVIDERS=json.dumps({"openai-chat": {"base_url": f"{address}/v1", "structured_output": "schema"}}),
        CAIRN_MODEL_PRICES=json.dumps({"openai-chat:*": {"input": "1", "output": "1"}}),
    )
    agent = {"name": "Critic", "system_prompt": "You rate films.", "model": "openai-chat:smollm2"}
    config = {"agent": agent, "model_settings": {"max_tokens": 120, "temperature": 0}}
    checkpoint = {
        "key": "rate",
        "prompt": "Rate a film about stones.",
        "execution": {"mode": "agentic", "agent_config": config},
        "output": {"artifacts": [{"name": "rating", "format": "json", "schema": SCHEMA}]},
    }
    document = {"pipeline_name": "Film", "config": {"auto_advance": True}, "checkpoints": [checkpoint]}
    server.start()
    try:
        pipeline_id = server.call("POST", "/api/pipelines", document, expect=201)["pipeline_id"]
        run_id = server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]
        wait_until(lambda: server.call("GET", f"/api/runs/{run_id}", expect=200)["status"] != "in_progress", 120)
        run = server.call("GET", f"/api/runs/{run_id}", expect=200)
        (execution,) = server.call("GET", f"/api/runs/{run_id}/checkpoints", expect=200)["items"]
        assert run["status"] == "completed", execution["error_details"]
        messages = server.call("GET", f"/api/executions/{execution['execution_id']}/messages", expect=200)["items"]
    finally:
        server.kill()
    (written,) = (server.data / "pipelines" / pipeline_id / "runs").glob("v1/*/outputs/rating*.json")
    value = json.loads(written.read_text())
    assert set(value) == {"mood", "stars", "again"}
    assert value["mood"] in ("glad", "sad")
    assert value["stars"] in range(1, 6)
    assert value["again"] in (True, False)
    assert [message["role"] for message in messages] == ["system", "user", "assistant"]
    usage = run["usage"]
    assert (usage["calls"], usage["simulated_calls"], usage["unpriced_calls"]) == (1, 0, 0)
    assert min(usage["input_tokens"], usage["output_tokens"]) > 10
    assert usage["cost_usd"] > 0
