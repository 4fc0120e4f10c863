"""Scripts in runs: versioned with the definition, sandboxed, with streamed logs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.documents import decode_yaml
from cairn.ports import SandboxLevel
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput
from cairn.store import tables as t
from cairn.store.errors import NotFound
from tests.mentions import mentions
from tests.services.app import App, form, retries, step, timeout

pytestmark = pytest.mark.asyncio(loop_scope="package")
ADD = "def main(ctx, left=1, right=2):\n    return {'sum': left + right}\n"


def script(key: str, path: str | None = None, source: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a checkpoint that runs a script and outputs one JSON artifact."""
    config: dict[str, Any] = {"script_source": source} if source is not None else {"script_path": path or f"{key}.py"}
    config |= more.pop("config", {})
    execution = {"mode": "script", "script_config": config, **more.pop("execution", {})}
    return {"key": key, "execution": execution, "outputs": more.pop("outputs", [f"{key}.json"]), **more}


def log_lines(app: App, run: str, key: str) -> list[tuple[str, str]]:
    execution, c = app.execution(run, key).execution_id, t.execution_logs.c
    query = sa.select(c.level, c.message).where(c.execution_id == execution).order_by(c.log_id)
    return [(row.level, row.message) for row in app.cairn.database.read(lambda conn: conn.execute(query).all())]


async def test_scripts_run_by_path_or_source_with_their_parameters(app: App) -> None:
    pipeline = await app.pipeline(
        script("add", "lib/add.py", config={"parameters": {"left": 40}}),
        script("twice", source="def main(ctx):\n    return {'twice': ctx.inputs['add']['sum'] * 2}\n"),
        scripts={"lib/add.py": ADD},
    )
    run = await app.run_to_completion(pipeline)
    assert (app.output(run, "add"), app.output(run, "twice")) == ({"sum": 42}, {"twice": 84})


async def test_the_sandbox_level_is_in_the_log_and_the_api(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is recorded before the execution completes. CI requires bubblewrap."""
    monkeypatch.setattr(app.cairn.log_writer, "_schedule_flush", Mock())  # the next batch is delayed
    pipeline = await app.pipeline(script("add"), scripts={"add.py": ADD})
    run = await app.run_to_completion(pipeline)
    reached = app.cairn.sandbox.probe()
    assert app.execution(run, "add").sandbox == reached.level.value
    assert log_lines(app, run, "add")[0] == ("info", mentions(reached.level.value))
    if os.environ.get("CI"):
        assert reached.level is SandboxLevel.BUBBLEWRAP


async def test_script_files_are_part_of_the_definition_and_drift_is_repaired(app: App) -> None:
    pipeline = await app.pipeline(script("add", "lib/add.py"), scripts={"lib/add.py": ADD})
    file = app.root(pipeline) / ".pipeline_system/definitions/scripts/lib/add.py"
    assert file.read_text() == ADD
    file.write_text("def main(ctx): return 'tampered'")
    await app.repair()
    assert file.read_text() == ADD
    assert [p.read_text() for p in (app.root(pipeline) / ".archived").rglob("add.py")] == [
        "def main(ctx): return 'tampered'"
    ]


async def test_a_changed_script_is_a_revision_and_revert_restores_the_old_one(app: App) -> None:
    pipeline = await app.pipeline(script("add"), scripts={"add.py": ADD})
    write = app.cairn.pipelines.scripts.write
    other = ADD.replace("+", "-")
    shown, _ = await write(pipeline, "./add.py", other.encode(), actor=ADMIN)
    assert (shown.path, shown.used_by, app.cairn.pipeline_queries.get_pipeline(pipeline).revision) == (
        "add.py",
        ["add"],
        2,
    )
    await write(pipeline, "add.py", other.encode(), actor=ADMIN)
    assert app.cairn.pipeline_queries.get_pipeline(pipeline).revision == 2, "the same text changes nothing"
    assert app.output(await app.run_to_completion(pipeline), "add") == {"sum": -1}
    await app.cairn.pipelines.revert(pipeline, 1, actor=ADMIN)
    assert app.output(await app.run_to_completion(pipeline), "add") == {"sum": 3}
    file = app.root(pipeline) / ".pipeline_system/definitions/scripts/add.py"
    assert file.read_text() == ADD
    assert not list((app.root(pipeline) / ".archived").rglob("add.py")), "an earlier script of its own gives way"


async def test_an_execution_keeps_the_script_it_was_created_with(app: App) -> None:
    waits = script("add", approve="complete")
    pipeline = await app.pipeline(waits, scripts={"add.py": ADD})
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "add", "waiting_approval_to_complete")
    await app.cairn.pipelines.scripts.write(pipeline, "add.py", ADD.replace("+", "-").encode(), actor=ADMIN)
    await app.decide(run, "add", "revise", "again")
    await app.wait_until(lambda: app.execution(run, "add").revision_iteration == 1)
    await app.decide(run, "add", "approve")
    await app.wait_for_run(run, "completed")
    assert app.output(run, "add") == {"sum": 3}


async def test_an_exported_definition_includes_its_scripts(app: App) -> None:
    pipeline = await app.pipeline(script("add"), scripts={"add.py": ADD})
    assert "left + right" in app.cairn.definition_queries.definition_text(pipeline, "json")[0]
    text, _ = app.cairn.definition_queries.definition_text(pipeline, "yaml")
    document, _ = decode_yaml(text)
    assert isinstance(document, dict)
    saved = await app.cairn.pipelines.update(pipeline, document, actor=ADMIN)
    assert not saved.changed
    copied = await app.cairn.pipelines.create(document, actor=ADMIN)
    app.pipeline_ids.append(copied.pipeline_id)
    assert app.output(await app.run_to_completion(copied.pipeline_id), "add") == {"sum": 3}


async def test_the_diff_of_revisions_includes_script_lines(app: App) -> None:
    pipeline = await app.pipeline(script("add"), scripts={"add.py": ADD})
    await app.cairn.pipelines.scripts.write(pipeline, "add.py", ADD.replace("+", "*").encode(), actor=ADMIN)
    assert (
        "+        return {'sum': left * right}" in app.cairn.definition_queries.compare_revisions(pipeline, 1, 2).text
    )


async def test_a_missing_script_is_a_warning_on_save_and_an_error_at_the_start(app: App) -> None:
    pipeline = await app.pipeline(script("add"))
    checked = app.cairn.pipelines.check({"pipeline_name": "P", "checkpoints": [script("add")]})
    assert [finding.message for finding in checked.warnings] == [mentions("'add.py'")]
    with pytest.raises(CommandRefused, match=r"add\.py"):
        await app.start(pipeline)
    await app.cairn.pipelines.scripts.write(pipeline, "add.py", ADD.encode(), actor=ADMIN)
    await app.run_to_completion(pipeline)


async def test_only_unused_scripts_can_be_removed(app: App) -> None:
    pipeline = await app.pipeline(script("add"), scripts={"add.py": ADD, "lib/more.py": "A = 1\n"})
    scripts = app.cairn.pipelines.scripts
    with pytest.raises(CommandRefused, match=r"\badd\b"):
        await scripts.remove(pipeline, "add.py", actor=ADMIN)
    await scripts.remove(pipeline, "lib/more.py", actor=ADMIN)
    assert [script.path for script in scripts.list(pipeline).items] == ["add.py"]
    with pytest.raises(NotFound):
        scripts.read(pipeline, "lib/more.py")
    assert not (app.root(pipeline) / ".pipeline_system/definitions/scripts/lib").exists()
    assert list((app.root(pipeline) / ".archived").iterdir()) == []


@pytest.mark.parametrize(
    "path", ["../x.py", "/etc/x.py", "a/../x.py", "a//x.py", "", "a\\b.py", ".cairn-new-x", "a" * 300]
)
async def test_a_path_outside_the_scripts_folder_is_rejected(app: App, path: str) -> None:
    pipeline = await app.pipeline(step("only"))
    with pytest.raises(InvalidInput):
        await app.cairn.pipelines.scripts.write(pipeline, path, b"", actor=ADMIN)


async def test_a_checksum_of_another_pipeline_is_rejected(app: App) -> None:
    other = await app.pipeline(script("add"), scripts={"add.py": ADD})
    reference = app.cairn.pipeline_queries.get_pipeline(other).model_extra or {}
    with pytest.raises(InvalidInput) as wrong:
        await app.pipeline(script("add"), scripts=reference["scripts"])
    assert [path for path, _ in wrong.value.errors] == ["/scripts/add.py"]


async def test_the_output_of_a_script_is_logged_line_by_line(app: App) -> None:
    source = (
        "import sys\n"
        "def main(ctx):\n"
        "    print('one\\ntwo')\n    print('oh', file=sys.stderr)\n    ctx.log('said', 'warning', n=1)\n"
        "    ctx.progress(0.5, 'half')\n    return {}\n"
    )
    pipeline = await app.pipeline(script("talk", source=source))
    run = await app.run_to_completion(pipeline)
    await app.cairn.log_writer.flush()
    assert sorted(log_lines(app, run, "talk")[1:]) == [
        ("info", "one"),
        ("info", "two"),
        ("warning", "oh"),
        ("warning", "said"),
    ]


async def test_an_exception_fails_the_execution_with_the_lines_of_the_user(app: App) -> None:
    source = "def main(ctx):\n    inner()\n\ndef inner():\n    raise KeyError('amount')\n"
    pipeline = await app.pipeline(script("breaks", source=source, execution=retries(1)))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    error = app.execution(run, "breaks").error_details.last_error
    assert error is not None
    assert (error.error_type, error.error_message) == ("KeyError", "'amount'")
    assert error.stack_trace == (
        "Traceback (most recent call last):\n"
        '  File "script_source.py", line 2, in main\n    inner()\n'
        "  File \"script_source.py\", line 5, in inner\n    raise KeyError('amount')\n"
        "KeyError: 'amount'\n"
    )
    assert app.execution(run, "breaks").attempt_number == 2


# ---- parameters from users -------------------------------------------------------------------------
ASKING = {
    "parameters": {"region": "Europe"},
    "parameters_schema": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "enum": ["Europe", "Asia"], "title": "Which region?"},
            "rows": {"type": "integer", "minimum": 1},
            "exact": {"type": "boolean", "default": False},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["region", "rows"],
    },
    "requires_user_input": True,
    "user_input_prompt": "What is the report about?",
}
ECHO = "def main(ctx, **parameters):\n    return parameters\n"


async def test_users_enter_script_parameters_in_a_form(app: App) -> None:
    pipeline = await app.pipeline(script("report", source=ECHO, config=ASKING))
    run = await app.start(pipeline)
    await app.wait_until(lambda: app.execution(run, "report").waiting_on == "script_input" or None)
    requested_form = app.execution(run, "report").form
    assert requested_form is not None
    assert requested_form.instructions == "What is the report about?"
    assert [(f.name, f.type, f.label, f.required, f.default) for f in requested_form.fields] == [
        ("region", "text", "Which region?", True, "Europe"),
        ("rows", "number", "rows", True, None),
        ("exact", "boolean", "exact", False, False),
        ("tags", "multiline_text", "tags (JSON)", False, None),
    ]
    with pytest.raises(InvalidInput) as wrong:
        await app.submit_form(run, "report", region="Mars", rows=0.5, tags="[1")
    assert sorted({path for path, _ in wrong.value.errors}) == ["/fields/region", "/fields/rows", "/fields/tags"]
    await app.submit_form(run, "report", rows=3, tags='["a", "b"]')
    await app.wait_for_run(run, "completed")
    assert app.output(run, "report") == {"region": "Europe", "rows": 3, "exact": False, "tags": ["a", "b"]}


async def test_declined_input_follows_on_failure(app: App) -> None:
    config = {"retry_config": {"on_failure": "fail_run"}}
    pipeline = await app.pipeline(script("report", source=ECHO, config=ASKING, execution=config))
    run = await app.start(pipeline)
    await app.decide(run, "report", "decline", "nobody knows")
    await app.wait_for_run(run, "failed")
    error = app.execution(run, "report").error_details.last_error
    assert error is not None
    assert error.error_type == "declined"


# ---- mixed ------------------------------------------------------------------------------------------
async def test_a_pipeline_can_mix_forms_parallel_scripts_and_approvals(app: App) -> None:
    count = "def main(ctx):\n    return {'n': len(ctx.inputs['ask']['ask'])}\n"
    join = "def main(ctx):\n    return {'all': ctx.inputs['left']['n'] + ctx.inputs['right']['n']}\n"
    pipeline = await app.pipeline(
        form("ask"),
        script("left", source=count, stage="both"),
        script("right", source=count, stage="both"),
        script("whole", source=join, approve="start"),
    )
    run = await app.start(pipeline)
    await app.submit_form(run, "ask", ask="four")
    await app.decide(run, "whole", "approve")
    await app.wait_for_run(run, "completed")
    assert app.output(run, "whole") == {"all": 8}


async def test_a_cancelled_script_leaves_no_process_and_its_workspace_is_errored(app: App) -> None:
    source = "import time\ndef main(ctx):\n    print('here', flush=True)\n    time.sleep(600)\n"
    pipeline = await app.pipeline(script("sleep", source=source))
    run = await app.start(pipeline)
    await app.wait_until(lambda: ("info", "here") in log_lines(app, run, "sleep") or None)
    marked = script_processes()
    assert marked
    await app.cairn.runs.cancel(run, actor=ADMIN)
    await app.wait_until(lambda: script_processes() == [] or None, 1.0)
    assert app.statuses(run) == {"sleep": "cancelled"}


def script_processes() -> list[int]:
    """Return the script processes of this server."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if f":{os.getpid()}:".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


SLEEPS = """
import os, subprocess, sys, time


def main(ctx):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    print("here", flush=True)
    time.sleep(600)
"""


async def test_a_script_is_stopped_at_its_timeout(app: App) -> None:
    """With the real clock."""
    pipeline = await app.pipeline(script("sleep", source=SLEEPS, execution=timeout(0.6, "fail_run")))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "failed")
    await app.wait_until(lambda: script_processes() == [] or None)
    assert app.execution(run, "sleep").attempt_number == 1


async def test_a_rollback_stops_the_script_it_archives(app: App) -> None:
    pipeline = await app.pipeline(step("first"), script("sleep", source=SLEEPS))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "sleep", "in_progress")
    await app.wait_until(lambda: ("info", "here") in log_lines(app, run, "sleep") or None)
    before = set(script_processes())
    assert len(before) >= 3
    await app.roll_back(run, 0)
    await app.wait_until(lambda: not before & set(script_processes()) or None, 1.0)
    await app.cairn.runs.cancel(run, actor=ADMIN)
    await app.wait_until(lambda: script_processes() == [] or None, 1.0)
