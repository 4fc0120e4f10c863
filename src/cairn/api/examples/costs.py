"""A conversation, its bill and its budget."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story as s
from cairn.services.conversations.views import Message, MessagePage, ToolCall
from cairn.services.costs.views import BudgetStatus, CostLine, Costs, PipelineCosts, RunCosts

REQUESTS: dict[str, Any] = {"set_budget": {"max_cost_usd": 2.5}}

_MESSAGE = Message(
    message_id=12,
    execution_id=s.EXECUTION_ID,
    timestamp=s.at(3),
    agent_name="Analyst",
    role="assistant",
    content="I look at the figures first.",
    scope="a1.r0.v0",
    is_current=True,
    turn="work",
    number=2,
    purpose="work",
    thinking="The figures have to be there before anything is said about them.",
    tool_calls=[ToolCall(call_id="c1", name="read_file", arguments={"path": "figures.csv"})],
    tool_results=[],
    model="anthropic:claude-sonnet-4-5",
    is_simulated=False,
    is_last=False,
    usage=s.USAGE,
)
_PAGE = MessagePage(items=[_MESSAGE], next_cursor=None, is_hidden=False)


def _costs(by: str, key: str, name: str, bounds: list[BudgetStatus]) -> dict[str, Any]:
    line = CostLine(key=key, name=name, last_at=s.at(3), usage=s.USAGE)
    return {"by": by, "total": s.USAGE, "items": [line], "next_cursor": None, "bounds": bounds}


_DAY = ("day", "2026-03-02", "2026-03-02")


RESPONSES: dict[str, Any] = {
    "list_messages": _PAGE,
    "get_conversation": _PAGE,
    "get_run_costs": RunCosts(run_id=s.RUN_ID, **_costs("execution", s.EXECUTION_ID, "goals", s.BUDGET.bounds)),
    "set_budget": s.RUN,
    "get_pipeline_costs": PipelineCosts(pipeline_id=s.PIPELINE_ID, **_costs(*_DAY, [])),
    "get_costs": Costs(**_costs(*_DAY, [])),
}
