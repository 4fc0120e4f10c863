"""Commands for conversations, costs and budgets."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.store import Database
from cairn.store import tables as t
from tests.cli.shell import Shell
from tests.mentions import mentions
from tests.snapshots.comparing import compare_text

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
CALL: dict[str, Any] = {"kind": "call", "call_id": "c", "name": "add", "arguments": {"a": 1}}
RESULT: dict[str, Any] = {"kind": "result", "call_id": "c", "name": "add", "content": "no", "succeeded": False}


def insert_rows(
    table: sa.Table, shared: dict[str, Any], *rows: dict[str, Any]
) -> tuple[sa.Insert, list[dict[str, Any]]]:
    return sa.insert(table), [shared | row for row in rows]


@pytest.fixture
def run(local_shell: Shell, notes: Path, name: str) -> str:
    """A run with a conversation and its model calls, inserted as a runner would save them."""
    local_shell("apply", str(notes))
    local_shell("run", name, code=6)
    execution = local_shell.json("show", f"{name}/write")
    ids = {"run_id": execution["run_id"], "execution_id": execution["execution_id"]}
    common = {**ids, "attempt_key": "a1.r0.v0", "turn": "work", "dispatch_number": 1, "purpose": "work", "sent_at": AT}
    common |= {"stored_at": AT, "seconds": 1.5, "is_last": False, "message": {}, "is_simulated": False}
    messages = insert_rows(
        t.messages,
        common | {"model": None, "tools": None, "speaker": "Cairn", "role": "user", "text": ""},
        {"number": 1, "text": "Add one."},
        {"number": 2, "speaker": "Clerk", "role": "assistant", "model": "fake:large", "tools": [CALL]},
        {"number": 3, "role": "tool", "tools": [RESULT]},
        {"number": 4, "speaker": "Clerk", "role": "assistant", "model": "fake:odd", "text": "\x1b[31mDone.\n"},
    )
    call = {name: value for name, value in common.items() if name in t.model_calls.c}
    call |= {"pipeline_id": execution["pipeline_id"], "checkpoint_id": execution["checkpoint_id"], "day": "2026-03-02"}
    call |= {"checkpoint_key": "write", "attempt": 0, "is_test": False, "called_at": AT, "cache_read_tokens": 600}
    call |= {"input_tokens": 1000, "output_tokens": 20, "cache_write_tokens": 0}
    calls = insert_rows(
        t.model_calls,
        call,
        {"number": 2, "model": "fake:large", "cost_nano_usd": 12_500_000, "is_simulated": True},
        {"number": 4, "model": "fake:odd", "cost_nano_usd": None},
    )
    with closing(Database(f"sqlite:///{local_shell.data}/cairn.db")) as database:
        database.transact_now(lambda c: [c.execute(*messages), c.execute(*calls)])
    return name


def test_a_conversation_is_printed_with_tools_and_costs(local_shell: Shell, run: str) -> None:
    shown = local_shell("conversation", f"{run}/write").out
    compare_text("cli/conversation.txt", shown)
    assert local_shell("conversation", f"{run}/write", "--follow").out == shown
    page = local_shell.json("conversation", run, "--attempt", "current")
    assert [message["number"] for message in page["items"]] == [1, 2, 3, 4]
    assert local_shell("conversation", run, "--attempt", "a9.r0.v0").out == ""


def test_costs_are_grouped_by_model_and_day(local_shell: Shell, run: str) -> None:
    by_model = local_shell("costs", run, "--by", "model").out.splitlines()
    assert by_model[0].isupper()
    assert by_model[1].split()[:7] == ["fake:large", "1", "1,000", "20", "600", "$0.0125", "1"]
    assert by_model[2] == mentions("fake:odd", "1")
    assert by_model[3].split()[1:6] == ["2", "2,000", "40", "1,200", "$0.0125"]
    assert local_shell.json("costs", "--pipeline", run)["items"][0]["key"] == "2026-03-02"
    assert local_shell.json("costs", "--since", "2026-03-03")["items"] == []
    assert local_shell("show", run).out == mentions("2,000", "40", "$0.0125")


def test_the_budget_of_a_run_is_set_extended_and_reset(local_shell: Shell, run: str) -> None:
    assert local_shell.json("budget", run)["status"] == []
    assert local_shell("budget", run, "--max-calls", "2").out == mentions("2 calls")
    lines = local_shell("budget", run, "--max-cost-usd", "2.5").out.splitlines()
    assert lines == [mentions("$0.0125", "$2.50"), mentions("2 calls")]
    assert local_shell("budget", run, "--max-calls", "2", "--reset", code=2).err == mentions("--reset")
    assert local_shell.json("budget", run, "--reset")["status"] == []
    assert local_shell("budget", run, "--resume", code=1).err == mentions("in progress")
