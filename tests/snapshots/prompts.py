"""The prompts that models receive: complete requests in the main situations, the library, and all other sentences."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, cast

from cairn.definitions.agents import builtin_agents
from cairn.definitions.templates import builtin_templates
from cairn.ports import ActionOffer, ArtifactSource, ProposesAction, ResolvedInputs, ReworkBrief
from cairn.runners.agents.tools.action_results import SENTENCES
from tests.runners.action_samples import MemoryDoor, recorded
from tests.runners.agent_samples import AgentBench, FakeModels, ReceivedRequest, Reply, ToolCall, final_result
from tests.runners.work_orders import stored
from tests.snapshots.source_texts import listing, texts_of

Json = dict[str, Any]

INPUTS = ResolvedInputs(
    previous=ArtifactSource("Report", 2, 1, (stored("report", "md", "# Earlier report", "runs/v1/report.md"),)),
    completed={"goals": ArtifactSource("Goals", 0, 2, (stored("goals", "json", '{"n": 1}', "runs/v2/goals.json"),))},
    feedback=("Shorter, please.",),
    original_prompt="Make an app.",
    input={"ticket": "It breaks."},
    findings="- report.md: too long",
)
READS: Json = {
    "instructions": {
        "system_prompt": "The system prompt of the checkpoint.",
        "task_prompt": "Do it.",
        "examples": [{"input": {"a": 1}, "output": {"b": 2}}],
    },
    "inputs": {"include_previous_version": True, "include_checkpoint_outputs": [{"checkpoint_id": "goals"}]},
}
COUNT: Json = {
    "name": "count",
    "format": "json",
    "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
AGENTS: list[Json] = [
    {"name": "Analyst", "role": "The role of the analyst.", "task_prompt": "The task of the analyst."},
    {"name": "Architect", "role": "The role of the architect.", "task_prompt": "The task of the architect."},
    {"name": "Chair", "role": "The role of the chair.", "task_prompt": "The task of the chair."},
]
TEAM: Json = {"name": "UX", "role": "Designs.", "system_prompt": "You design.", "task_prompt": "Draw."}
ALL_TOOLS = ["file_operations", "propose_action", "request_rework", "ask_human"]
PASSES: Json = {"passes": True, "reason": "Fine.", "findings": []}
FOLDER_NUMBERS = count()
LONG = stored("spec", "md", "# Spec\n" + "Requirement. " * 8_000, "runs/v1/spec.md")


# ---- situations ------------------------------------------------------------------------------------------
async def _context(folder: Path) -> list[ReceivedRequest]:
    """One agent with everything that it can read, in each format."""
    requests: list[ReceivedRequest] = []
    for layout in ("markdown", "xml", "json"):
        fields = {**READS, "instructions": {**READS["instructions"], "injection_format": {"content_format": layout}}}
        agent = {"task_prompt": "The task of the agent."}
        requests += await _requests(folder, "Done.", "report.md", agent=agent, fields=fields, resolved=INPUTS)
    return requests


async def _results(folder: Path) -> list[ReceivedRequest]:
    """The formats of a result, and corrections of invalid results."""
    requests = await _requests(folder, "a,b", "table.csv")
    requests += await _requests(folder, "No JSON.", final_result({"n": "two"}), final_result({"n": 2}), COUNT)
    requests += await _requests(
        folder, final_result({"decision": "COMPLETE", "reason": "Done."}), fields={"decides": True}
    )
    several = [final_result({"report": "# Report"}), *[final_result({"report": "# Report", "count": {"n": 2}})] * 2]
    return requests + await _requests(folder, *several, "report.md", COUNT)


async def _tools(folder: Path) -> list[ReceivedRequest]:
    """Every tool with its description, and tool results."""
    uses = [
        ToolCall("write_file", {"path": "workspace/notes.txt", "content": "one\ntwo"}, "1"),
        ToolCall("read_file", {"path": "workspace/notes.txt"}, "2"),
        ToolCall("edit_file", {"path": "workspace/notes.txt", "old": "three", "new": "3"}, "3"),
        ToolCall("read_file", {"path": "../secret.txt"}, "4"),
        ToolCall("write_file", {"path": "workspace/notes.txt"}, "5"),
        ToolCall("list_files", {}, "6"),
        ToolCall("write_file", {"path": "report.md", "content": "# Report"}, "7"),
    ]
    files = await _requests(folder, uses, "Done.", "report.md", agent={"tools": ["file_operations"]}, resolved=INPUTS)
    question = ToolCall("ask_human", {"question": "Which colour?"}, "1")
    return files + await _requests(folder, question, "report.md", agent={"tools": ALL_TOOLS}, resolved=INPUTS)


async def _actions(folder: Path) -> list[ReceivedRequest]:
    """An action that the agent carries out itself, and every outcome of one."""
    offers = (ActionOffer("refund", "high", "Pays back.", {"type": "object"}, executor="proposer"),)
    arguments = {"operation_type": "refund", "parameters": {"amount": 5}, "reasoning": "It broke."}
    found: list[ReceivedRequest] = []
    for state in ("approved", *SENTENCES):
        report = ToolCall("report_outcome", {"outcome": "done", "result": {"receipt": 7}})
        second: Reply = report if state == "approved" else "Done."
        replies: list[Reply] = [ToolCall("propose_action", arguments, "p1"), second, "Done."]
        models = FakeModels(lambda request, replies=replies: replies[request.answers])
        bench = AgentBench(folder / str(next(FOLDER_NUMBERS)), models)
        work = replace(bench.work("report.md", agent={"tools": ["propose_action"]}), action_offers=offers)
        proposed = await bench.runner.run(work)
        assert isinstance(proposed, ProposesAction)
        assert proposed.call is not None
        call = replace(proposed.call, result=recorded(state, result={"receipt": 7}, reason="The reason."))
        await bench.runner.run(replace(work, calls=(call,), actions=MemoryDoor(modified=True)))
        found += bench.models.requests if state == "approved" else bench.models.requests[1:]
    return found


async def _rework(folder: Path) -> list[ReceivedRequest]:
    """A rework."""
    found = replace(INPUTS, rework=ReworkBrief("tester", "Correct the count.", "Two is wrong."))
    return await _requests(folder, "Done.", "report.md", resolved=found)


def _discussion(mode: str) -> Callable[[Path], Awaitable[list[ReceivedRequest]]]:
    async def run(folder: Path) -> list[ReceivedRequest]:
        config = {"creation_mode": "predefined", "discussion_mode": mode, "agents": AGENTS, "max_turns": 6}
        return await _requests(folder, *["An answer."] * 20, "plan.md", config=config)

    return run


async def _team(folder: Path) -> list[ReceivedRequest]:
    """An agent that designs the team. Its first answers are invalid."""
    config = {
        "creation_mode": "meta_agent",
        "meta_agent_instructions": "Agents for a mobile app.",
        "discussion_mode": "sequential",
        "max_agents": 3,
        "max_turns": 1,
    }
    teams = [[{**TEAM, "name": f"A{number}"} for number in range(4)], [TEAM, TEAM], [TEAM]]
    return await _requests(
        folder, *[final_result({"agents": team}) for team in teams], "Done.", "app.md", config=config
    )


async def _validation(folder: Path) -> list[ReceivedRequest]:
    """Models that judge results, by schema and by a custom prompt, and an invalid verdict."""
    lenient = {"output": {"validation": {"validation_mode": "llm_schema", "schema_validation_strictness": "lenient"}}}
    invalid = [final_result({"n": "two"})] * 3
    requests = await _requests(folder, *invalid, final_result(PASSES), COUNT, fields=lenient)
    custom = {"validation_mode": "llm_custom", "custom_validation_prompt": "Is it kind?"}
    replies = ["You are great.", "It passes!", final_result(PASSES)]
    return requests + await _requests(folder, *replies, "text.md", fields={"output": {"validation": custom}})


async def _summary(folder: Path) -> list[ReceivedRequest]:
    """A long document is summarized before it is read."""
    reads = {"inputs": {"include_checkpoint_outputs": [{"checkpoint_id": "spec", "use_summarization": True}]}}
    found = ResolvedInputs(completed={"spec": ArtifactSource("Spec", 0, 1, (LONG,))})
    return await _requests(folder, *["It wants much."] * 2, "Done.", "text.md", fields=reads, resolved=found)


SITUATIONS: dict[str, Callable[[Path], Awaitable[list[ReceivedRequest]]]] = {
    "context": _context,
    "results": _results,
    "tools": _tools,
    "actions": _actions,
    "rework": _rework,
    "sequential": _discussion("sequential"),
    "parallel": _discussion("parallel"),
    "council": _discussion("council"),
    "debate": _discussion("debate"),
    "team": _team,
    "validation": _validation,
    "summary": _summary,
}


async def situation(name: str, folder: Path) -> str:
    requests = await SITUATIONS[name](folder)
    requests = [f"# Request {number}\n\n{_request(request)}" for number, request in enumerate(requests, 1)]
    return "\n\n".join(requests) + "\n"


async def _requests(folder: Path, *arguments: Any, **options: Any) -> list[ReceivedRequest]:
    """The requests until the checkpoint ends. The arguments are the replies of models and the checkpoint's outputs."""
    outputs = [
        argument
        for argument in arguments
        if argument is COUNT or (isinstance(argument, str) and argument.endswith((".md", ".csv")))
    ]
    replies: list[Reply] = [argument for argument in arguments if not any(argument is output for output in outputs)]
    bench = AgentBench(folder / str(next(FOLDER_NUMBERS)), FakeModels.replying(*replies))
    await bench.run(*outputs, **options)
    return bench.models.requests


def _request(request: ReceivedRequest) -> str:
    if request.answers:
        return f"## Then\n\n{_quoted(request.last)}"
    parts = [f"## System\n\n{_quoted(request.system)}", f"## User\n\n{_quoted(request.prompt)}"]
    tools = [*request.info.function_tools, *request.info.output_tools]
    for tool in tools:
        described = list(_described(tool.parameters_json_schema, ""))
        parts.append(f"## Tool {tool.name}\n\n" + _quoted("\n".join([tool.description or "", *described])))
    return "\n\n".join(parts)


def _quoted(text: str) -> str:
    shortened = text if len(text) <= 12_000 else f"{text[:400]}\n[…]\n{text[-400:]}"
    return "\n".join(f"> {line}".rstrip() for line in shortened.splitlines())


def _described(schema: Json, at: str) -> Iterator[str]:
    for name, inner in schema.get("properties", {}).items():
        where = f"{at}.{name}" if at else name
        if "description" in inner:
            yield f"- {where}: {inner['description']}"
        yield from _described(inner, where)
        yield from _described(inner.get("items", {}), f"{where}[]")


# ---- the library -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Leaf:
    path: str
    text: str


def library() -> str:
    """The texts of the built-in agents and templates."""
    agents = {f"Agent {name}": agent.model_dump(exclude_defaults=True) for name, agent in builtin_agents().items()}
    documents: Json = agents | {f"Template {template.name}": template.read()[0] for template in builtin_templates()}
    parts = ["\n".join([f"# {title}", *_lines(document)]) for title, document in documents.items()]
    return "\n\n".join(parts) + "\n"


def _lines(document: Any) -> list[str]:
    return [f"- {leaf.path}: {leaf.text.strip()}" for leaf in _leaves(document, "") if " " in leaf.text]


def _leaves(value: Any, path: str) -> Iterator[_Leaf]:
    match value:
        case str():
            yield _Leaf(path, value)
        case dict():
            for key, inner in cast("Json", value).items():
                yield from _leaves(inner, f"{path}.{key}" if path else key)
        case list() | tuple():
            for number, inner in enumerate(cast("list[Any]", value)):
                named = cast("Json", inner).get("key", number) if isinstance(inner, dict) else number
                yield from _leaves(inner, f"{path}.{named}")
        case _:
            pass


# ---- other sentences ---------------------------------------------------------------------------------------
def sentences() -> str:
    """Instructions, tool results and errors in the source of the runners."""
    modules = {module: [text for text in texts if not text.logged] for module, texts in texts_of("runners").items()}
    return listing({module: texts for module, texts in modules.items() if texts})
