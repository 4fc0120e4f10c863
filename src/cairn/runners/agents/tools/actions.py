"""The actions of one dispatch of an agent: answer its proposals, hand over actions, and report their outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart

from cairn.ports import HandOver, RecordedCall, WorkOrder
from cairn.runners.agents.deferred_calls import PendingToolCall, TurnPaused
from cairn.runners.agents.toolbox import Tool, ToolAnswer, ToolError
from cairn.runners.agents.tools.action_results import (
    CLOSED,
    OPEN,
    REPORT_OUTCOME,
    handed_over_action,
    recorded_action,
)
from cairn.runners.agents.tools.deferred import PROPOSE_ACTION, object_schema, recorded_answer, recorded_call
from cairn.runners.hand_overs import HandOvers
from cairn.runners.processes.child.actions import OUTCOMES, is_approved, reported_result

PROPOSER = "proposer"
NOT_STARTED = {"reason": "Not carried out, because another action of the same message could not start."}
DESCRIPTION = (
    "Report what came of an approved action that you have carried out. Without a report, it counts as done when your"
    " work ends. Report failed only if it was certainly not carried out."
)


class AgentActions:
    """Answers the deferred calls of the agents in one dispatch."""

    def __init__(self, work: WorkOrder) -> None:
        self._work = work
        self._hand_overs = HandOvers(work.actions)
        self._begun = set[int]()  # call numbers of the actions that were handed over in this dispatch

    # Deferred calls
    async def answers(self, calls: Sequence[PendingToolCall]) -> Sequence[ToolAnswer]:
        """The results of deferred calls. Raises TurnPaused if one has none yet, before any action is handed over."""
        for pending in calls:
            call = recorded_call(pending, self._work)
            if call is None or call.result is None:
                raise TurnPaused(pending)
        handed_over: list[int] = []
        answers: list[ToolAnswer] = []
        for pending in calls:
            call = recorded_call(pending, self._work)
            if call is None or not is_approved(call.result):
                answers.append(recorded_answer(pending, self._work))
                continue
            hand_over = await self._begin(call)
            if hand_over is None:
                for number in handed_over:  # the agent has not seen them
                    await self._hand_overs.report(number, "failed", NOT_STARTED)
                raise TurnPaused(pending, is_held=True)
            handed_over.append(call.number)
            answers.append(handed_over_action(call, hand_over))
        return answers

    async def _begin(self, call: RecordedCall) -> HandOver | None:
        hand_over = await self._hand_overs.begin(call.number)
        if hand_over is not None:
            self._begun.add(call.number)
        return hand_over

    async def end(self) -> None:
        """The dispatch ends normally or with a call that waits."""
        await self._hand_overs.assume_done()

    # Conversations that were interrupted after a hand-over
    async def update(self, messages: Sequence[ModelMessage]) -> ModelRequest | None:
        """What became of actions that were handed over in an earlier dispatch and not reported.

        Raises TurnPaused if that is still unknown.
        """
        parts: list[UserPromptPart] = []
        metadata: dict[str, list[int]] = {OPEN: [], CLOSED: []}
        for number in sorted(_open_actions(messages) - self._begun):
            call = next((call for call in self._work.calls if call.number == number), None)
            if call is None:
                continue
            answer = await self._outcome(call)
            metadata[OPEN if number in self._begun else CLOSED].append(number)
            parts.append(UserPromptPart(answer.text))
        return ModelRequest(parts=parts, metadata=metadata) if parts else None

    async def _outcome(self, call: RecordedCall) -> ToolAnswer:
        request, call_site = call.arguments.get("request", {}), call.arguments.get("call_site", {})
        tool = Tool(PROPOSE_ACTION, "", {}, None, "action")
        pending = PendingToolCall(str(call_site.get("turn", "")), tool, request, call_site)
        if call.result is None:
            raise TurnPaused(pending, is_held=True)
        if not is_approved(call.result):
            return recorded_action(call)
        hand_over = await self._begin(call)
        if hand_over is None:
            raise TurnPaused(pending, is_held=True)
        return handed_over_action(call, hand_over)

    # Reports
    def report_tools(self, names: Sequence[str]) -> list[Tool]:
        """The tool that reports outcomes, if the agent can carry out actions itself."""
        if PROPOSE_ACTION not in names or all(offer.executor != PROPOSER for offer in self._work.action_offers):
            return []
        schema = object_schema(
            {
                "outcome": {"enum": list(OUTCOMES)},
                "result": {"description": "Any JSON data about the outcome, such as a receipt, or the reason."},
                "action": {"type": "integer", "description": "The number of the action."},
            },
            "outcome",
        )
        return [Tool(REPORT_OUTCOME, DESCRIPTION, schema, self._report)]

    async def _report(self, arguments: dict[str, Any]) -> ToolAnswer:
        outcome: str = arguments["outcome"]
        number = self._reported_action(arguments.get("action"))
        try:
            result = json.loads(reported_result(outcome, arguments.get("result")))
        except (TypeError, ValueError) as error:
            raise ToolError(str(error)) from None
        await self._hand_overs.report(number, outcome, result)
        return ToolAnswer(f"Action {number} is recorded as {outcome}.", metadata={CLOSED: [number]})

    def _reported_action(self, number: int | None) -> int:
        unreported = self._hand_overs.unreported
        if not unreported:
            raise ToolError("No action waits for a report.")
        if number is None and len(unreported) == 1:
            return unreported[0]
        if number not in unreported:
            raise ToolError(f"Choose one of these actions: {', '.join(map(str, unreported))}.")
        return number


def _open_actions(messages: Sequence[ModelMessage]) -> set[int]:
    """The numbers of actions that were handed over in these messages, and whose outcome they don't contain."""
    found = set[int]()
    for metadata in _metadata(messages):
        found |= set(metadata.get(OPEN, ()))
        found -= set(metadata.get(CLOSED, ()))
    return found


def _metadata(messages: Sequence[ModelMessage]) -> Iterator[dict[str, Any]]:
    for message in messages:
        if isinstance(message, ModelRequest):
            yield message.metadata or {}
            for part in message.parts:
                if isinstance(part, ToolReturnPart) and isinstance(part.metadata, dict):
                    yield part.metadata  # pyright: ignore[reportUnknownMemberType]
