"""Every example completes on a real server."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from cairn.definitions import builtin_templates
from cairn.documents import decode_json, decode_yaml
from tests.chaos.server import TOKEN, Server
from tests.docs.pages import ROOT, blocks_of

EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("examples")
    path = os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")])
    running = Server(folder, CAIRN_FUNCTIONS='["invoice_functions"]', PYTHONPATH=path)
    running.start()
    yield running
    assert running.stop() == 0


def start_example(server: Server, name: str, run_input: Any = None) -> str:
    """Start a run of an example. Returns the id of the run."""
    return start(server, decode_yaml((EXAMPLES / name).read_bytes())[0], run_input)


def start(server: Server, definition: Any, run_input: Any = None) -> str:
    pipeline = server.call("POST", "/api/pipelines", definition, expect=201)
    assert pipeline["warnings"] == []
    run = server.call("POST", "/api/runs", {"pipeline_id": pipeline["pipeline_id"], "input": run_input}, expect=201)
    return str(run["run_id"])


def wait_for_status(server: Server, run_id: str, position: int, status: str) -> str:
    """Wait until the execution at a position has a status or wait reason. Returns its id."""
    wait = "waiting_on" if status in ("human_form", "script_input", "action_approval") else "status"
    while True:
        checkpoint = server.call("GET", f"/api/runs/{run_id}", expect=200)["checkpoints"][position]
        if checkpoint[wait] == status:
            return str(checkpoint["execution_id"])
        assert checkpoint["error_message"] is None, checkpoint["error_message"]


def fill_in(server: Server, run_id: str, position: int, fields: dict[str, Any], wait_reason: str = "human_form") -> str:
    execution = wait_for_status(server, run_id, position, wait_reason)
    server.call("POST", f"/api/executions/{execution}/submit", {"fields": fields}, expect=200)
    return execution


def approve(server: Server, run_id: str, position: int, status: str = "waiting_approval_to_complete") -> None:
    execution = wait_for_status(server, run_id, position, status)
    server.call("POST", f"/api/executions/{execution}/approve", {}, expect=200)


def read(server: Server, run_id: str, position: int, name: str) -> str:
    """The content of an artifact, from the file on disk."""
    run = server.wait_for_run(run_id, "completed")
    execution = server.call("GET", f"/api/executions/{run['checkpoints'][position]['execution_id']}", expect=200)
    path = next(
        artifact["file_path"] for artifact in execution["artifacts_generated"] if artifact["artifact_name"] == name
    )
    return (server.data / "pipelines" / run["pipeline_id"] / path).read_text()


def test_examples_equal_the_templates() -> None:
    shipped = {f"{template.name}.yaml": template.text for template in builtin_templates()}
    assert {name: (EXAMPLES / name).read_text() for name in shipped} == shipped


def test_release_notes(server: Server) -> None:
    """An invalid answer gets the response that the guide shows."""
    run_id = start_example(server, "release-notes.yaml")
    form = wait_for_status(server, run_id, 0, "human_form")
    wrong = server.call("POST", f"/api/executions/{form}/submit", {"fields": {"txt": "Typed wrongly."}}, expect=422)
    shown = [block.text for block in blocks_of(ROOT / "docs" / "guide" / "forms.md") if block.language == "json"]
    assert [decode_json(text) for text in shown] == [wrong]
    fill_in(server, run_id, 0, {"text": "Three new words."})
    approve(server, run_id, 0)
    assert json.loads(read(server, run_id, 1, "size"))["words"] == 3


def test_product_discovery(server: Server) -> None:
    run_id = start_example(server, "product-discovery.yaml")
    goals = {
        "goals": "Suppliers answer within a day, without mails.",
        "audience": "Suppliers",
        "success_measure": "Half as many mails",
    }
    fill_in(server, run_id, 0, goals)
    approve(server, run_id, 0)
    second = wait_for_status(server, run_id, 1, "pending")
    server.call("POST", "/api/executions/start", {"execution_id": second}, expect=200)
    fill_in(server, run_id, 1, {"must_have": "Sign in by link. Keep twelve months of history."})
    approve(server, run_id, 1)
    approve(server, run_id, 2, "waiting_approval_to_start")
    design = {"overview": "A portal with one page per order, and a link that signs in.", "alternatives": "A robot."}
    fill_in(server, run_id, 2, design)
    approve(server, run_id, 2)
    assert "## The design in a few paragraphs\n\nA portal" in read(server, run_id, 2, "design")


def test_text_report(server: Server) -> None:
    """A stage of three checkpoints, then one that needs all of them."""
    run_id = start_example(server, "text-report.yaml", {"text": "A cairn marks the way."})
    approve(server, run_id, 3)
    assert "| Words | 5 |" in read(server, run_id, 3, "report")


def test_invoices(server: Server) -> None:
    """A function reads an uploaded file."""
    run_id = start_example(server, "invoices.yaml")
    form = wait_for_status(server, run_id, 0, "human_form")
    fill_in(server, run_id, 0, {"invoices": upload(server, form, EXAMPLES / "invoices.csv"), "limit": 1000})
    approve(server, run_id, 2)
    assert decode_json(read(server, run_id, 1, "findings")) == {"count": 3, "total": "1830.40", "large": ["2026-002"]}
    assert read(server, run_id, 1, "large") == "number,customer,amount\n2026-002,Stone & Sons,1250.50\n"
    assert read(server, run_id, 2, "report").endswith("Over 1000 EUR: 2026-002.\n")


def test_refund_email(server: Server) -> None:
    """Without a mail server, the action is refused before anyone is asked."""
    run_id = start_example(server, "refund-email.yaml")
    with pytest.raises(AssertionError, match="CAIRN_SMTP_HOST"):
        wait_for_status(server, run_id, 4, "action_approval")
    [action] = server.call("GET", f"/api/actions?run_id={run_id}", expect=200)["items"]
    assert (action["operation_type"], action["state"], action["approval_id"]) == ("send_email", "refused", None)


def test_sales_report(server: Server) -> None:
    """A CSV file is read, checked and aggregated into a page with a chart."""
    run_id = start_example(server, "sales-report.yaml")
    approve(server, run_id, 2)
    assert read(server, run_id, 0, "problems") == "line,date,region,amount\n6,2026-02-25,South,n/a\n"
    totals = decode_json(read(server, run_id, 1, "totals"))
    assert totals == {
        "total": "6796.50",
        "regions": {"North": "2830.75", "South": "830", "West": "3135.75"},
        "months": {"2026-01": "2030.50", "2026-02": "2400.25", "2026-03": "2365.75"},
    }
    page, chart = read(server, run_id, 2, "report"), read(server, run_id, 2, "chart")
    assert chart in page
    assert ET.fromstring(chart).tag == "{http://www.w3.org/2000/svg}svg"


def test_text_review(server: Server) -> None:
    """A form, parallel scripts, an approval and another script."""
    run_id = start_example(server, "text-review.yaml")
    fill_in(server, run_id, 0, {"title": "Letter", "text": "It is very good. See http://example.org now."})
    approve(server, run_id, 4, "waiting_approval_to_start")
    assert read(server, run_id, 4, "review") == (
        "# Letter\n\n7 words in 3 sentences. The longest sentence has 4 words.\n\nWords to avoid: very.\n\n"
        "Unencrypted links: http://example.org.\n"
    )


def test_plan_dev_test(server: Server) -> None:
    """The test sends the work back once and continues with the new result."""
    run_id = start_example(server, "plan-dev-test.yaml")
    approve(server, run_id, 3)
    assert decode_json(read(server, run_id, 3, "verification")) == {"passed": True, "rounds": 2}
    executions = server.call("GET", f"/api/runs/{run_id}/checkpoints?limit=50", expect=200)["items"]
    requester = next(execution for execution in executions if execution["checkpoint_key"] == "test")
    assert [
        execution["checkpoint_key"]
        for execution in executions
        if execution["parent_execution_id"] == requester["execution_id"]
    ] == ["dev"]
    assert {execution["sandbox"] for execution in executions} == {"bubblewrap"}


def test_the_scripts_of_the_guide(server: Server) -> None:
    page = blocks_of(ROOT / "docs" / "guide" / "scripts.md")
    complete, with_input = (block for block in page if block.language == "yaml")
    run_id = start(server, decode_yaml(complete.text)[0])
    assert read(server, run_id, 1, "letter") == "There are 4 words.\n"
    document = {"pipeline_name": "Asking", "checkpoints": [decode_yaml(with_input.text)[0]]}
    run_id = start(server, document)
    fill_in(server, run_id, 0, {"region": "North"}, "script_input")
    assert decode_json(read(server, run_id, 0, "report")) == {"region": "North", "rows": 10}


def upload(server: Server, execution: str, file: Path) -> str:
    boundary = "boundary-that-is-not-in-the-file"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file.name}"\r\n\r\n'
    request = urllib.request.Request(
        f"{server.address}/api/executions/{execution}/files",
        data=head.encode() + file.read_bytes() + f"\r\n--{boundary}--\r\n".encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": f"multipart/form-data; boundary={boundary}"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return str(json.load(response)["upload_id"])
