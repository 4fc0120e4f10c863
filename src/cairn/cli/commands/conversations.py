"""Commands for conversations and contexts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cairn.cli.arguments import ExecutionName
from cairn.cli.client import JsonObject, StreamMessage
from cairn.cli.context import CliContext, online
from cairn.cli.output import Output, local_time, print_status
from cairn.cli.rendering import shorten, usage_line
from cairn.cli.run_follower import follow_until
from cairn.cli.run_state import is_idle

HIDDEN_NOTICE = "The definition hides this conversation. Only admins can read it."
MAX_TOOL_CHARS = 2000  # of a tool's arguments or result
MessageKey = tuple[str, int]  # turn and number of the message in it


@online()
async def conversation(
    ctx: CliContext,
    name: ExecutionName,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Follow the conversation while the run is active.")
    ] = False,
    attempt: Annotated[
        str | None, typer.Option("--attempt", help="Filter by attempt, such as a1.r0.v0, or `current`.")
    ] = None,
) -> None:
    """Show the conversation of an execution with its models.

    Example: cairn conversation "Text report@v1/write_report" -f
    """
    execution = await ctx.resolver.execution(name)
    printer = ConversationPrinter(ctx.output)
    if follow:
        await _follow(ctx, execution, printer, attempt)
        return
    page = await ctx.client.list_messages(execution["execution_id"], attempt_key=attempt)
    if ctx.output.as_json:
        ctx.output.json(page)
        return
    if page["is_hidden"] and not page["items"]:
        print_status(HIDDEN_NOTICE)
    for message in page["items"]:
        printer.print_message(message)


async def _follow(ctx: CliContext, execution: JsonObject, printer: ConversationPrinter, attempt: str | None) -> None:
    def print_message(message: StreamMessage) -> None:
        data: Any = message.data
        if message.kind not in ("message_delta", "message") or data["execution_id"] != execution["execution_id"]:
            return
        if attempt not in (None, "current", data["attempt_key"]):
            return
        if message.kind == "message_delta":
            printer.print_delta(data)
        elif attempt != "current" or data["is_current"]:
            printer.print_message(data)

    await follow_until(ctx.client, execution["run_id"], is_idle, print_message)


class ConversationPrinter:
    """Prints messages one below the other. On a terminal, prints a message while it is written."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._open: MessageKey | None = None  # the message that is being printed
        self._printed = 0  # characters of it

    def print_delta(self, delta: JsonObject) -> None:
        """Print the next part of a message. If several are written at once, only the first one is printed this way."""
        if not self._output.is_terminal or self._output.as_json or delta["kind"] != "text":
            return
        key: MessageKey = (delta["turn"], delta["number"])
        if self._open is None:
            self._open, self._printed = key, 0
            self._print_heading(delta["agent_name"], None, delta["is_simulated"], None)
        if self._open == key and delta["offset"] == self._printed:
            self._output.raw(delta["text"])
            self._output.out.flush()
            self._printed += len(delta["text"])

    def print_message(self, message: JsonObject) -> None:
        """Print a complete message, or the rest of it."""
        if self._output.as_json:
            self._output.json_line(message)
            return
        if self._open == (message["turn"], message["number"]):
            self._output.raw(message["content"][self._printed :] + "\n")
            self._open = None
        else:
            if self._open is not None:  # end the line of the other message
                self._output.raw("\n")
                self._open = None
            self._print_heading(message["agent_name"], message["model"], message["is_simulated"], message["timestamp"])
            if message["content"]:
                self._output.raw(f"{message['content'].rstrip()}\n")
        self._print_details(message)

    def _print_heading(self, agent_name: str, model: str | None, is_simulated: bool, timestamp: str | None) -> None:
        details = ", ".join(part for part in (model, "simulated" if is_simulated else None) if part)
        time = f"{local_time(timestamp)}  " if timestamp else ""
        self._output.line(f"{time}{agent_name}{f' ({details})' if details else ''}", "bold")

    def _print_details(self, message: JsonObject) -> None:
        for call in message["tool_calls"]:
            self._output.line(f"  → {call['name']} {shorten(call['arguments'], MAX_TOOL_CHARS)}", "dim")
        for result in message["tool_results"]:
            line = f"  ← {result['name']} {shorten(result['content'], MAX_TOOL_CHARS)}"
            self._output.line(line, "dim" if result["succeeded"] else "red")
        if message["usage"] is not None:
            self._output.line(f"  {usage_line(message['usage'])}, {message['usage']['seconds']:.1f} s", "dim")
        self._output.out.flush()


@online()
async def context(ctx: CliContext, name: ExecutionName) -> None:
    """Show the context of an execution. Before its start, shows the context that it would receive now.

    Example: cairn context "Release notes@v2/notes"
    """
    execution = await ctx.resolver.execution(name)
    response = await ctx.client.get_context(execution["execution_id"])
    if not ctx.output.as_json and not response["stored"]:
        print_status("This is a preview. The execution has not received it yet.")
    ctx.show(response, lambda context: ctx.output.raw(f"{context['text'].rstrip()}\n" if context["text"] else ""))
