"""What the simulated model says in a discussion: by its role, from what was given, to what the others have said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cairn.adapters.simulated_model.plausible_values import PlausibleValues
from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt

AGREED = "AGREED"  # what somebody says who has nothing to add, where the prompt asks for it
_MEMBERS = re.compile(r"\b(?:council|debate) of ([^.\n]+?)(?:, round|\.)")
_ROUND = re.compile(r"\bround (\d+)")
_QUOTED = re.compile(r"“([^”]{20,300})”")
_OPPOSED = re.compile(r"\b(debate|against|oppos\w+|contra|disagree|critic\w*)\b", re.IGNORECASE)
_DECIDES = re.compile(r"\b(decide|chair|judge|rule|merge|final|one result)\b", re.IGNORECASE)


_OWN = {"your": "my", "yours": "mine", "yourself": "myself", "you": "I"}


def part_of(reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    """A statement in a discussion, or plain words."""
    who, duty = reading.agent, reading.duty
    others = [(speaker, said) for speaker, said in reading.statements if _name(speaker) != who]
    fact = knowing.sentence(_turn(reading))
    lines = [f"{f'As {who}: ' if who else ''}{_view(reading)}I go by this: “{fact}”"]
    if "Review the answers" in duty:
        lines += _reviews(reading, others, knowing)
    elif others:
        lines.append(_reply(reading, *others[-1]))
    if _DECIDES.search(duty):
        names = dict.fromkeys(_name(speaker) for speaker, _ in others)
        lines.append(f"Having heard {' and '.join(names) or 'all'}, I decide: {knowing.title}.")
    lines.append(f"So I would look at “{knowing.topic(0)}” first, then at “{knowing.topic(1)}”.")
    if reading.feedback:
        lines.append(f"What was asked to be changed is done: {reading.feedback.splitlines()[0][:160]}")
    if AGREED in duty and any(_name(speaker) == who for speaker, _ in reading.statements):
        lines.append(AGREED)
    return "\n\n".join(lines)


def heard(reading: ParsedPrompt) -> Iterator[tuple[str, str]]:
    """What each has said, in short."""
    told = dict[str, str]()
    for speaker, said in reading.statements:
        told.setdefault(_point(said), speaker)
    yield from ((speaker, words) for words, speaker in told.items() if words)


def _reviews(reading: ParsedPrompt, others: list[tuple[str, str]], knowing: PlausibleValues) -> Iterator[str]:
    for speaker, said in others:
        yield _reply(reading, speaker, said)
    if others:
        yield f"I would take the answer of {others[0][0]}, and add what it lacks: a word on “{knowing.topic(2)}”."


def _reply(reading: ParsedPrompt, speaker: str, said: str) -> str:
    point = _point(said)
    if _OPPOSED.search(f"{reading.duty} {reading.system}"):
        return f"{_name(speaker)} says: {point} That is right, but it does not settle the question."
    return f"{_name(speaker)} says: {point} I agree, and it fits what I go by."


def _point(said: str) -> str:
    """What a statement comes to: what it goes by, else how it begins."""
    quoted = _QUOTED.search(said)
    if quoted:
        return f"“{quoted[1]}”"
    first = re.split(r"(?<=[.!?])\s", said.strip(), maxsplit=1)[0].strip()[:200]
    return first if first.endswith((".", "!", "?")) or not first else f"{first}."


def _view(reading: ParsedPrompt) -> str:
    """What somebody stands for, in the first person."""
    found = re.search(r"\bYou are [^.\n]+\.\s+You ([^.\n]+\.)", reading.system)
    if found is None:
        return ""
    told = re.sub(r"\b(yours?|yourself|you)\b", lambda one: _OWN[one[0].lower()], found[1], flags=re.IGNORECASE)
    return f"I {told} "


def _turn(reading: ParsedPrompt) -> int:
    """Which fact to begin with: another one for each who speaks, and for each round."""
    listed = _MEMBERS.search(reading.duty)
    names = [name.strip() for name in listed[1].split(",")] if listed else []
    number = int(found[1]) - 1 if (found := _ROUND.search(reading.duty)) else 0
    if reading.agent in names:
        return names.index(reading.agent) + number * len(names)
    return len(reading.statements)


def _name(speaker: str) -> str:
    return speaker.partition(",")[0].strip()
