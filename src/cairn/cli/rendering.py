"""Runs and executions as people read them."""

from __future__ import annotations

from typing import Any

from cairn.cli.client import Answer
from cairn.cli.output import Output, moment, size, tell
from cairn.cli.references import file_name, short, state, title
from cairn.cli.run_state import advice, waiting

UNKNOWN = "not known"  # the price of a call


def show_run(screen: Output, run: Answer) -> None:
    status = f"{run['status']} (a pause is asked for)" if run["pause_requested"] else run["status"]
    screen.facts(
        [
            ("run", title(run)),
            ("id", run["run_id"]),
            ("status", status),
            ("definition", f"version {run['pipeline_definition_version']}"),
            ("pass", run["pass_number"] if run["pass_number"] > 1 else None),
            ("started", f"{moment(run['started_at'])} by {run['created_by']}" if run["started_at"] else None),
            ("ended", moment(run["completed_at"])),
            ("prompt", run["original_prompt"]),
            ("used", used(run["usage"]) if run["usage"]["calls"] else None),
            ("over budget", run["over_budget"]),
            ("archived", f"by rollback {run['archived_by']}" if run["archived_by"] else None),
            ("possible", ", ".join(run["available_commands"])),
        ]
    )
    screen.line()
    rows = [
        (
            item["position"] + 1,
            item["key"],
            item["mode"],
            state(item),
            item["artifact_count"] or "",
            f"{item['active_seconds']:.1f} s" if item["active_seconds"] else "",
            short(item["execution_id"]),
        )
        for item in run["checkpoints"]
    ]
    screen.table(("", "checkpoint", "done by", "status", "artifacts", "worked", "id"), rows)
    for item in run["checkpoints"]:
        if item["error"]:
            screen.line(f"{item['key']}: {item['error']}", "red")
    for item in waiting(run) if run["status"] in ("in_progress", "paused") else ():
        screen.line(f"{item['name']} waits: {advice(run, item)}", "yellow")
    warn(run)


def show_execution(screen: Output, execution: Answer) -> None:
    fault = execution["error_details"]["last_error"]
    progress: Answer = execution["progress"] or {}
    screen.facts(
        [
            ("checkpoint", f"{execution['checkpoint_name']} ({execution['checkpoint_key']})"),
            ("id", execution["execution_id"]),
            ("run", execution["run_id"]),
            ("status", state(execution)),
            ("attempt", f"{execution['attempt_number']} of {execution['max_attempts']}"),
            ("revision", execution["revision_iteration"] or None),
            ("started", moment(execution["started_at"])),
            ("completed", moment(execution["completed_at"])),
            ("failed", moment(execution["failed_at"])),
            ("progress", " ".join(str(part) for part in (progress.get("fraction"), progress.get("text")) if part)),
            ("error", f"{fault['error_type']}: {fault['error_message']}" if fault else None),
            ("used", used(execution["usage"]) if execution["usage"]["calls"] else None),
            ("asks", execution["approval"]["kind"] if execution["approval"] else None),
            ("possible", ", ".join(execution["available_commands"])),
        ]
    )
    if fault and fault["stack_trace"]:
        screen.raw(f"\n{fault['stack_trace'].rstrip()}\n")
    if execution["artifacts_generated"]:
        screen.line()
        show_artifacts(screen, execution["artifacts_generated"])
    if execution["form"] and execution["approval"]:
        screen.line()
        show_form(screen, execution["form"])
    warn(execution)


def show_artifacts(screen: Output, artifacts: list[Answer]) -> None:
    rows = [
        (
            short(artifact["artifact_record_id"]),
            file_name(artifact),
            artifact["checkpoint_name"],
            size(artifact["size_bytes"]),
            "stale" if artifact["is_stale"] else "",
            artifact["file_path"],
        )
        for artifact in artifacts
    ]
    screen.table(("id", "artifact", "checkpoint", "size", "", "file"), rows, empty="There are no artifacts.")


def show_form(screen: Output, form: Answer) -> None:
    screen.line(form["instructions"])
    if form["feedback"]:
        screen.line(f"To be revised: {form['feedback']}", "yellow")
    values: Answer = form["values"] or {}
    rows = [
        (
            field["name"],
            field["type"],
            "required" if field["required"] else "",
            field["label"],
            values.get(field["name"], field["default"]),
        )
        for field in form["fields"]
    ]
    screen.table(("field", "type", "", "label", "value"), rows)


def warn(answer: Answer) -> None:
    for warning in answer.get("warnings") or ():
        tell(f"warning: {warning if isinstance(warning, str) else warning['message']}")


def show_diff(screen: Output, text: str) -> None:
    if not text:
        tell("Nothing differs.")
    for line in text.splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        screen.line(line, None if line.startswith(("+++", "---")) else style)


def cost(usage: Answer) -> str:
    """Not known is told apart from nothing."""
    return UNKNOWN if usage["cost_usd"] is None else f"${usage['cost_usd']:,.4f}"


def used(usage: Answer) -> str:
    tokens = f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out, {cost(usage)}"
    return f"{tokens} (simulated)" if usage["simulated_calls"] == usage["calls"] else tokens


def as_text(value: Any) -> str:
    """A text as it is, any other value as JSON."""
    if isinstance(value, str):
        return value
    from cairn.documents import encode_json

    return encode_json(value).decode()


def shortened(value: Any, most: int) -> str:
    text = as_text(value)
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
