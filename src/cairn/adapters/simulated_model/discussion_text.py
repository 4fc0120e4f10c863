"""The simulated model's contributions to a discussion."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cairn.adapters.simulated_model.plausible_values import PlausibleValues
from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt

AGREED = "AGREED"  # ends a discussion when the prompt asks for it
_MEMBERS = re.compile(r"\b(?:council|debate) of ([^.\n]+?)(?:, round|\.)")
_ROUND = re.compile(r"\bround (\d+)")
_QUOTED = re.compile(r"“([^”]{20,300})”")
_OPPOSED = re.compile(r"\b(debate|against|oppos\w+|contra|disagree|critic\w*|challeng\w+)\b", re.IGNORECASE)
_DECIDES = re.compile(r"\b(decide|chair|judge|rule|merge|final|one result)\b", re.IGNORECASE)
_SECOND_PERSON = re.compile(r"\b(yours?|yourself|you)\b", re.IGNORECASE)
_FIRST_PERSON = {"your": "my", "yours": "mine", "yourself": "myself", "you": "I"}


def discussion_reply(prompt: ParsedPrompt, values: PlausibleValues) -> str:
    """A statement in a discussion, or the answer of a single agent."""
    own_name, instructions = prompt.agent_name, prompt.turn_instructions
    others = [(speaker, text) for speaker, text in prompt.statements if _name(speaker) != own_name]
    fact = values.sentence(_fact_index(prompt))
    lines = [f"{f'As {own_name}: ' if own_name else ''}{_self_description(prompt)}My main point is: “{fact}”"]
    if "Review the answers" in instructions:
        lines += _reviews(prompt, others, values)
    elif others:
        lines.append(_response(prompt, *others[-1]))
    if _DECIDES.search(instructions):
        names = dict.fromkeys(_name(speaker) for speaker, _ in others)
        lines.append(f"After hearing {' and '.join(names) or 'everyone'}, I decide: {values.title}.")
    lines.append(f"I would start with “{values.topic(0)}” and continue with “{values.topic(1)}”.")
    if prompt.feedback:
        lines.append(f"I have made the requested change: {prompt.feedback.splitlines()[0][:160]}")
    if AGREED in instructions and any(_name(speaker) == own_name for speaker, _ in prompt.statements):
        lines.append(AGREED)
    return "\n\n".join(lines)


def main_points(prompt: ParsedPrompt) -> Iterator[tuple[str, str]]:
    """Each speaker's main point, without repetitions."""
    speakers = dict[str, str]()
    for speaker, text in prompt.statements:
        speakers.setdefault(_main_point(text), speaker)
    yield from ((speaker, point) for point, speaker in speakers.items() if point)


def _reviews(prompt: ParsedPrompt, others: list[tuple[str, str]], values: PlausibleValues) -> Iterator[str]:
    for speaker, text in others:
        yield _response(prompt, speaker, text)
    if others:
        yield f"I prefer the answer of {others[0][0]}, but it should also cover “{values.topic(2)}”."


def _response(prompt: ParsedPrompt, speaker: str, text: str) -> str:
    point = _main_point(text)
    if _OPPOSED.search(f"{prompt.turn_instructions} {prompt.system}"):
        return f"{_name(speaker)} says: {point} That is true, but it does not answer the question."
    return f"{_name(speaker)} says: {point} I agree. This supports my point."


def _main_point(text: str) -> str:
    """The first quotation in a statement, or its first sentence."""
    quoted = _QUOTED.search(text)
    if quoted:
        return f"“{quoted[1]}”"
    first = re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0].strip()[:200]
    return first if first.endswith((".", "!", "?")) or not first else f"{first}."


def _self_description(prompt: ParsedPrompt) -> str:
    """The system prompt's second sentence, in the first person."""
    description = re.search(r"\bYou are [^.\n]+\.\s+You ([^.\n]+\.)", prompt.system)
    if description is None:
        return ""
    return f"I {_SECOND_PERSON.sub(lambda word: _FIRST_PERSON[word[0].lower()], description[1])} "


def _fact_index(prompt: ParsedPrompt) -> int:
    """A different fact for every speaker and every round."""
    members = _MEMBERS.search(prompt.turn_instructions)
    names = [name.strip() for name in members[1].split(",")] if members else []
    finished_rounds = int(match[1]) - 1 if (match := _ROUND.search(prompt.turn_instructions)) else 0
    if prompt.agent_name in names:
        return names.index(prompt.agent_name) + finished_rounds * len(names)
    return len(prompt.statements)


def _name(speaker: str) -> str:
    return speaker.partition(",")[0].strip()
