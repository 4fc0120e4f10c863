"""A conversation of an agent with its model."""

from __future__ import annotations

from cairn.api.examples import story
from cairn.services.conversations.views import Message, MessagePage, ToolCall


def _message() -> Message:
    return Message(
        message_id=12,
        execution_id=story.EXECUTION_ID,
        timestamp=story.at(3),
        agent_name="Analyst",
        role="assistant",
        content="I'll look at the figures first.",
        attempt_key="a1.r0.v0",
        is_current=True,
        turn="work",
        number=2,
        purpose="work",
        thinking="I need the figures before I can draw conclusions.",
        tool_calls=[ToolCall(call_id="c1", name="read_file", arguments={"path": "figures.csv"})],
        tool_results=[],
        model="anthropic:claude-sonnet-4-5",
        is_simulated=False,
        is_last=False,
        usage=story.usage(),
    )


def messages() -> MessagePage:
    return MessagePage(items=[_message()], next_cursor=None, is_hidden=False)
