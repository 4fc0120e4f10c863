"""A conversation, its costs and its budget, in the terminal."""

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
RESULT: dict[str, Any] = {"kind": "result", "call_id": "c", "name": "add", "content": "no", "went_well": False}


def rows(table: sa.Table, plain: dict[str, Any], *given: dict[str, Any]) -> tuple[sa.Insert, list[dict[str, Any]]]:
    return sa.insert(table), [plain | one for one in given]


@pytest.fixture
def talked(alone: Shell, notes: Path, name: str) -> str:
    """A run in which somebody has talked: written as a runner would have had it kept."""
    alone("apply", str(notes))
    alone("run", name, code=6)
    execution = alone.json("show", f"{name}/write")
    of = {"run_id": execution["run_id"], "execution_id": execution["execution_id"]}
    said = {**of, "attempt_key": "a1.r0.v0", "turn": "work", "dispatch_number": 1, "purpose": "work", "sent_at": AT}
    said |= {"stored_at": AT, "seconds": 1.5, "is_last": False, "message": {}, "is_simulated": False}
    spoken = rows(
        t.messages,
        said | {"model": None, "tools": None, "speaker": "Cairn", "role": "user", "text": ""},
        {"number": 1, "text": "Add one."},
        {"number": 2, "speaker": "Clerk", "role": "assistant", "model": "fake:large", "tools": [CALL]},
        {"number": 3, "role": "tool", "tools": [RESULT]},
        {"number": 4, "speaker": "Clerk", "role": "assistant", "model": "fake:odd", "text": "\x1b[31mDone.\n"},
    )
    call = {name: value for name, value in said.items() if name in t.model_calls.c}
    call |= {"pipeline_id": execution["pipeline_id"], "checkpoint_id": execution["checkpoint_id"], "day": "2026-03-02"}
    call |= {"checkpoint_key": "write", "is_test": False, "called_at": AT, "cache_read_tokens": 600}
    call |= {"input_tokens": 1000, "output_tokens": 20, "cache_write_tokens": 0}
    paid = rows(
        t.model_calls,
        call,
        {"number": 2, "model": "fake:large", "cost_nano_usd": 12_500_000, "is_simulated": True},
        {"number": 4, "model": "fake:odd", "cost_nano_usd": None},
    )
    with closing(Database(f"sqlite:///{alone.data}/cairn.db")) as database:
        database.transact_now(lambda c: [c.execute(*spoken), c.execute(*paid)])
    return name


def test_a_conversation_is_told_with_its_tools_and_costs(alone: Shell, talked: str) -> None:
    shown = alone("conversation", f"{talked}/write").out
    compare_text("cli/conversation.txt", shown)
    assert alone("conversation", f"{talked}/write", "--follow").out == shown
    found = alone.json("conversation", talked, "--scope", "current")
    assert [message["number"] for message in found["items"]] == [1, 2, 3, 4]
    assert alone("conversation", talked, "--scope", "a9.r0.v0").out == ""


def test_a_bill_by_model_and_by_day(alone: Shell, talked: str) -> None:
    by_model = alone("costs", talked, "--by", "model").out.splitlines()
    assert by_model[0].isupper()
    assert by_model[1].split()[:7] == ["fake:large", "1", "1,000", "20", "600", "$0.0125", "1"]
    assert by_model[2] == mentions("fake:odd", "1")
    assert by_model[3].split()[1:6] == ["2", "2,000", "40", "1,200", "$0.0125"]
    assert alone.json("costs", "--pipeline", talked)["items"][0]["key"] == "2026-03-02"
    assert alone.json("costs", "--since", "2026-03-03")["items"] == []
    assert alone("show", talked).out == mentions("2,000", "40", "$0.0125")


def test_a_budget_of_a_run_is_set_kept_and_taken_back(alone: Shell, talked: str) -> None:
    assert alone.json("budget", talked)["status"] == []
    assert alone("budget", talked, "--max-calls", "2").out == mentions("2 calls")
    both = alone("budget", talked, "--max-cost-usd", "2.5").out.splitlines()
    assert both == [mentions("$0.0125", "$2.50"), mentions("2 calls")]
    assert alone("budget", talked, "--max-calls", "2", "--reset", code=2).err == mentions("--reset")
    assert alone.json("budget", talked, "--reset")["status"] == []
    assert alone("budget", talked, "--resume", code=1).err == mentions("in progress")
