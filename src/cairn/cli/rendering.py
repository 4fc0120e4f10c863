"""Prints runs, executions, artifacts and forms as text."""

from __future__ import annotations

from typing import Any

from cairn.cli.client import JsonObject
from cairn.cli.output import Output, file_size, local_time, print_status
from cairn.cli.references import file_name, short, state, title
from cairn.cli.run_state import print_waiting

UNKNOWN_COST = "unknown"
START_MODES = {
    "immediately": "starts immediately",
    "needs_approval": "needs approval to start",
    "manual": "waits for a manual start",
    "on_resume": "starts when the run is resumed",
}


def show_run(output: Output, run: JsonObject) -> None:
    output.fields(
        [
            ("run", title(run)),
            ("id", run["run_id"]),
            ("status", f"{run['status']} (pause requested)" if run["pause_requested"] else run["status"]),
            ("definition", f"version {run['pipeline_definition_version']}"),
            ("pass", run["pass_number"] if run["pass_number"] > 1 else None),
            ("started", f"{local_time(run['started_at'])} by {run['created_by']}" if run["started_at"] else None),
            ("ended", local_time(run["completed_at"])),
            ("prompt", run["original_prompt"]),
            ("usage", usage_line(run["usage"]) if run["usage"]["calls"] else None),
            ("over budget", run["over_budget"]),
            ("archived", f"by rollback {run['archived_by']}" if run["archived_by"] else None),
            ("commands", ", ".join(run["available_commands"])),
        ]
    )
    output.line()
    rows = [
        (
            checkpoint["position"] + 1,
            checkpoint["key"],
            checkpoint["mode"],
            state(checkpoint),
            checkpoint["artifact_count"] or "",
            f"{checkpoint['active_seconds']:.1f} s" if checkpoint["active_seconds"] else "",
            short(checkpoint["execution_id"]),
        )
        for checkpoint in run["checkpoints"]
    ]
    output.table(("#", "checkpoint", "mode", "status", "artifacts", "active", "id"), rows)
    for checkpoint in run["checkpoints"]:
        if checkpoint["error_message"]:
            output.line(f"{checkpoint['key']}: {checkpoint['error_message']}", "red")
    if run["status"] in ("in_progress", "paused"):
        print_waiting(output, run)
    print_warnings(run)


def show_execution(output: Output, execution: JsonObject) -> None:
    error = execution["error_details"]["last_error"]
    progress: JsonObject = execution["progress"] or {}
    output.fields(
        [
            ("checkpoint", f"{execution['checkpoint_name']} ({execution['checkpoint_key']})"),
            ("id", execution["execution_id"]),
            ("run", execution["run_id"]),
            ("status", state(execution)),
            ("attempt", f"{execution['attempt_number']} of {execution['max_attempts']}"),
            ("revision", execution["revision_iteration"] or None),
            ("started", local_time(execution["started_at"])),
            ("completed", local_time(execution["completed_at"])),
            ("failed", local_time(execution["failed_at"])),
            ("progress", " ".join(str(part) for part in (progress.get("fraction"), progress.get("text")) if part)),
            ("error", f"{error['error_type']}: {error['error_message']}" if error else None),
            ("usage", usage_line(execution["usage"]) if execution["usage"]["calls"] else None),
            ("approval", execution["approval"]["kind"] if execution["approval"] else None),
            ("commands", ", ".join(execution["available_commands"])),
        ]
    )
    if error and error["stack_trace"]:
        output.raw(f"\n{error['stack_trace'].rstrip()}\n")
    if execution["artifacts_generated"]:
        output.line()
        show_artifacts(output, execution["artifacts_generated"])
    if execution["form"] and execution["approval"]:
        output.line()
        show_form(output, execution["form"])
    print_warnings(execution)


def show_artifacts(output: Output, artifacts: list[JsonObject]) -> None:
    rows = [
        (
            short(artifact["artifact_record_id"]),
            file_name(artifact),
            artifact["checkpoint_name"],
            file_size(artifact["size_bytes"]),
            "yes" if artifact["is_stale"] else "",
            artifact["file_path"],
        )
        for artifact in artifacts
    ]
    headings = ("id", "artifact", "checkpoint", "size", "stale", "file")
    output.table(headings, rows, empty="No artifacts.")


def show_form(output: Output, form: JsonObject) -> None:
    output.line(form["instructions"])
    if form["feedback"]:
        output.line(f"Feedback: {form['feedback']}", "yellow")
    values: JsonObject = form["values"] or {}
    rows = [
        (
            field["name"],
            field["type"],
            "yes" if field["required"] else "",
            field["label"],
            values.get(field["name"], field["default"]),
        )
        for field in form["fields"]
    ]
    output.table(("field", "type", "required", "label", "value"), rows)


def print_warnings(item: JsonObject) -> None:
    for warning in item.get("warnings") or ():
        print_status(f"warning: {warning if isinstance(warning, str) else warning['message']}")


def show_diff(output: Output, diff: str) -> None:
    if not diff:
        print_status("No differences.")
    for line in diff.splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        output.line(line, None if line.startswith(("+++", "---")) else style)


def cost(usage: JsonObject) -> str:
    return UNKNOWN_COST if usage["cost_usd"] is None else f"${usage['cost_usd']:,.4f}"


def usage_line(usage: JsonObject) -> str:
    line = f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out, cost {cost(usage)}"
    return f"{line} (simulated)" if usage["simulated_calls"] == usage["calls"] else line


def field_pairs(item: JsonObject) -> list[tuple[str, object]]:
    """All fields of an item as names and values for `Output.fields`. Joins lists and writes booleans as yes and no."""
    return [(name.replace("_", " "), _field_text(value)) for name, value in item.items()]


def _field_text(value: Any) -> object:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return value


def as_text(value: Any) -> str:
    """A string unchanged, any other value as JSON."""
    if isinstance(value, str):
        return value
    from cairn.documents import encode_json

    return encode_json(value).decode()


def shorten(value: Any, limit: int) -> str:
    text = as_text(value)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"
