"""What is said with models, whole or as it happens."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import ExecutionName
from cairn.cli.client import Answer, StreamMessage
from cairn.cli.context import CliContext, online
from cairn.cli.output import Output, moment, tell
from cairn.cli.rendering import shortened, used
from cairn.cli.run_follower import follow_to
from cairn.cli.run_state import is_at_rest

HIDDEN = "The definition does not show this conversation: only admins see it."
LONGEST = 2000  # characters of what a tool was given or gave
Turn = tuple[str, int]  # its name, and the number of the message in it


@online()
async def conversation(
    ctx: CliContext,
    name: ExecutionName,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow the conversation.")] = False,
    scope: Annotated[
        str | None, typer.Option("--scope", help="Filter by scope. Use `current` for the one that counts.")
    ] = None,
) -> None:
    """Show the messages of an execution with models, oldest first. With -f, follow them.

    Example: cairn conversation "Text report@v1/write_report" -f
    """
    execution = await ctx.naming.execution(name)
    told = ConversationPrinter(ctx.screen)
    if follow:
        await _follow(ctx, execution, told, scope)
        return
    found = await ctx.client.list_messages(execution["execution_id"], scope=scope)
    if ctx.screen.as_json:
        ctx.screen.answer(found)
        return
    if found["is_hidden"] and not found["items"]:
        tell(HIDDEN)
    for message in found["items"]:
        told.whole(message)


async def _follow(ctx: CliContext, execution: Answer, told: ConversationPrinter, scope: str | None) -> None:
    def tell_message(message: StreamMessage) -> None:
        data: Any = message.data
        if message.kind not in ("piece", "message") or data["execution_id"] != execution["execution_id"]:
            return
        if scope not in (None, "current", data["scope"]):
            return
        if message.kind == "piece":
            told.piece(data)
        elif scope != "current" or data["is_current"]:
            told.whole(data)

    await follow_to(ctx.client, execution["run_id"], is_at_rest, tell_message)


class ConversationPrinter:
    """Messages below one another; on a terminal, letter by letter while they come."""

    def __init__(self, screen: Output) -> None:
        self._screen = screen
        self._open: Turn | None = None  # the message that is being shown
        self._shown = 0  # characters of it

    def piece(self, piece: Answer) -> None:
        """Several may speak at once: the one that began is shown, the others when they are whole."""
        if not self._screen.is_terminal or self._screen.as_json or piece["kind"] != "text":
            return
        turn: Turn = (piece["turn"], piece["number"])
        if self._open is None:
            self._open, self._shown = turn, 0
            self._head(piece["agent_name"], None, piece["is_simulated"], None)
        if self._open == turn and piece["offset"] == self._shown:
            self._screen.raw(piece["text"])
            self._screen.out.flush()
            self._shown += len(piece["text"])

    def whole(self, message: Answer) -> None:
        if self._screen.as_json:
            self._screen.item(message)
            return
        if self._open == (message["turn"], message["number"]):
            self._screen.raw(message["content"][self._shown :] + "\n")
            self._open = None
        else:
            if self._open is not None:  # another one is in the middle of a word
                self._screen.raw("\n")
                self._open = None
            self._head(message["agent_name"], message["model"], message["is_simulated"], message["timestamp"])
            if message["content"]:
                self._screen.raw(f"{message['content'].rstrip()}\n")
        self._rest(message)

    def _head(self, speaker: str, model: str | None, is_simulated: bool, at: str | None) -> None:
        about = ", ".join(part for part in (model, "simulated" if is_simulated else None) if part)
        when = f"{moment(at)}  " if at else ""
        self._screen.line(f"{when}{speaker}{f' ({about})' if about else ''}", "bold")

    def _rest(self, message: Answer) -> None:
        for call in message["tool_calls"]:
            self._screen.line(f"  → {call['name']} {shortened(call['arguments'], LONGEST)}", "dim")
        for result in message["tool_results"]:
            told = f"  ← {result['name']} {shortened(result['content'], LONGEST)}"
            self._screen.line(told, "dim" if result["went_well"] else "red")
        if message["usage"] is not None:
            self._screen.line(f"  {used(message['usage'])}, {message['usage']['seconds']:.1f} s", "dim")
        self._screen.out.flush()
