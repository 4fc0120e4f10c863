"""Plausible values for the task and the material of a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from cairn.adapters.simulated_model.phrases import PHRASES, TYPICAL_NUMBERS
from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt
from cairn.adapters.simulated_model.team_roles import suggest_team
from cairn.adapters.simulated_model.text import keywords, label, leaves, sentences, slug, title
from cairn.adapters.simulated_model.value_source import SchemaField, ValueSource

_PROSE_FIELDS = (
    "summary description overview title subject reason reasoning rationale explanation text content result status"
    " answer body message notes comment analysis decision verdict findings passes valid score confidence"
)
_ALIASES = {"to": "email", "recipient": "email", "customeremail": "email"}
_ERROR_LISTS = "findings finding errors violations mismatches faults"  # empty unless the material is unfinished
_ERROR_TEXTS = {
    "path": "{file}",
    "expected": "a finished text",
    "actual": "{word}",
    "why": "Readers would see a placeholder instead of content.",
    "message": "The text is not finished.",
}
_FALSE_FIELDS = (
    "error failed fails blocked urgent escalate escalated requires needs duplicate spam missing rejected optional"
)
_POSITIVE = (
    "complete completed approve approved accept accepted pass passed valid yes ok true done ready success resolved"
    " medium normal moderate standard neutral open new"
)
MIN_TOPICS = 3  # if the material has fewer, topics from the task are added
_NUMBERED = re.compile(r"(\w+?)_(?:id|number|no)")
_AMOUNT = "{{ amount }}"  # a task can request this placeholder, so that the text contains a corrected amount
_REQUESTS = tuple(
    re.compile(rf"\b({words})\b", re.IGNORECASE) for words in ("please|would like", "wants?|needs?|should|must|has to")
)
_UNFINISHED = re.compile(r"\b(TODO|TBD|FIXME|lorem ipsum)\b")
_TEAM_SIZE = re.compile(
    r"\b(\d{1,2}|two|three|four|five|six)\s+(?:\w+\s+)?(agents|people|experts|roles|specialists)\b", re.IGNORECASE
)
_NUMBER_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


class PlausibleValues(ValueSource):
    def __init__(self, prompt: ParsedPrompt) -> None:
        self._prompt = prompt

    # Facts from the prompt
    @cached_property
    def topics(self) -> list[str]:
        """Keywords from the material, and from the task if the material has few."""
        prompt = self._prompt
        found = keywords((*prompt.prose, *(text for _, text in prompt.statements if not prompt.prose)))
        more = keywords((), f"{prompt.task}\n{prompt.turn_instructions}") if len(found) < MIN_TOPICS else []
        return list(dict.fromkeys((*found, *more))) or ["result"]

    @cached_property
    def sentences(self) -> list[str]:
        """Sentences from the material. Questions and fragments are used only if it has no statements."""
        candidates = list(dict.fromkeys(sentence for text in self._prompt.prose for sentence in sentences(text)))
        statements = [sentence for sentence in candidates if sentence.endswith((".", "!", "”"))]
        return (statements or candidates)[:24]

    @cached_property
    def title(self) -> str:
        return title(self._prompt.task or self._prompt.turn_instructions)

    @cached_property
    def subject(self) -> str:
        """The subject line of an email."""
        known = [
            value for name in ("subject", "title") for value in self._known.get(name, ()) if isinstance(value, str)
        ]
        if known:
            return known[0]
        prefix = "Refund for" if self._is_refund else "Your"
        return f"{prefix} {self.cases[-1]}" if self.cases else f"{self._capitalized_topic(0)} and {self.topic(1)}"

    @cached_property
    def cases(self) -> list[str]:
        """Numbered items in the material, such as "order 12345"."""
        found: dict[str, str] = {}
        for value in self._prompt.json_values:
            for name, inner in leaves(value):
                match = _NUMBERED.fullmatch(name)
                if match and match[1] != "customer" and isinstance(inner, str | int) and not isinstance(inner, bool):
                    found.setdefault(match[1], f"{label(match[1]).lower()} {inner}")
        return list(found.values())

    @property
    def _is_refund(self) -> bool:
        return re.search(r"\b(refund|pay back|money back)\b", self._prompt.task, re.IGNORECASE) is not None

    @property
    def request(self) -> str:
        """The sentence in the material that contains a request."""
        requests = (sentence for pattern in _REQUESTS for sentence in self.sentences if pattern.search(sentence))
        return next(requests, self.sentence(0))

    @cached_property
    def team(self) -> list[tuple[str, str]]:
        return suggest_team(f"{self._prompt.task} {self._prompt.turn_instructions}")

    def topic(self, index: int) -> str:
        return self.topics[index % len(self.topics)]

    def sentence(self, index: int) -> str:
        if self.sentences:
            return self.sentences[index % len(self.sentences)]
        return f"The task covers {self.topic(index)} and {self.topic(index + 1)}."

    def prose(self, index: int, count: int = 2) -> str:
        return " ".join(dict.fromkeys(self.sentence(index + n) for n in range(count)))

    def reason(self, index: int) -> str:
        if self.unfinished:
            return f"The text is not finished: it still contains {self.unfinished}."
        cases = f"{' and '.join(self.cases[:2])}: " if self.cases else ""
        text = f"{cases}“{self.sentence(index)}” Nothing in the material contradicts this."
        return text[:1].upper() + text[1:]

    @cached_property
    def unfinished(self) -> str:
        """The first placeholder in the material, such as TODO."""
        matches = (_UNFINISHED.search(text) for text in self._prompt.materials)
        return next((match[0] for match in matches if match), "")

    # Values of fields
    @cached_property
    def _known(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for value in self._prompt.json_values:
            for name, inner in leaves(value):
                found.setdefault(_normalized(name), []).append(inner)
        return found

    def known(self, field: SchemaField) -> Iterator[Any]:
        """Values to copy from the material, such as ids and amounts. Prose is always generated."""
        if field.name and not set(_PROSE_FIELDS.split()).intersection(field.words) and "agents" not in field.parents:
            name = _ALIASES.get(_normalized(field.name), _normalized(field.name))
            yield from self._known.get(name, [])[field.index : field.index + 3]

    def texts(self, field: SchemaField) -> Iterator[str]:
        if "agents" in field.parents or "agents" in field.words:
            yield from self._agent_texts(field)
        if set(_ERROR_LISTS.split()).intersection(field.parents) and self.unfinished and field.name in _ERROR_TEXTS:
            yield _ERROR_TEXTS[field.name].format(file=self._prompt.judged_file, word=self.unfinished)
        if "id" in field.words and field.parents:
            parent = next((parent_name for parent_name in reversed(field.parents) if parent_name), "")
            yield from (f"{prefix}{field.index + 1}" for prefix in (f"{parent[:1].upper()}", f"{parent[:3].upper()}-"))
        for names, *phrases in PHRASES:
            if set(names.split()).intersection(field.words[-2:]):
                yield self._format(phrases[field.index % len(phrases)], field.index)
        if field.description and len(field.description) > 15:
            description = field.description.strip().rstrip(".")
            yield f"{description[:1].upper()}{description[1:]}: {self.topic(field.index)}."
        yield f"{label(field.name) or 'This'}: {self.topic(field.index)} and {self.topic(field.index + 1)}."
        for n in range(1, 30):
            yield f"{self._capitalized_topic(field.index + n)} {n + 1}"

    def _agent_texts(self, field: SchemaField) -> Iterator[str]:
        name, role = self.team[field.index % len(self.team)]
        last = field.words[-1] if field.words else ""
        if last in ("name", "agents", "title"):
            yield name
        elif last == "role":
            yield f"{role}."
        elif last == "prompt":
            is_system = "system" in field.words
            yield f"You are the {name}. {role}." if is_system else f"{self.title}. Speak as the {name}: {role.lower()}."

    def _capitalized_topic(self, index: int) -> str:
        topic = self.topic(index)
        return topic[:1].upper() + topic[1:]

    def _format(self, phrase: str, index: int) -> str:
        return phrase.format(
            n=index + 1,
            word=slug(self.topic(index)) or "item",
            topic=self.topic(index),
            Topic=self._capitalized_topic(index),
            title=self.title if not index else f"{self.title}: {self.topic(index)}",
            subject=self.subject,
            reason=self.reason(index),
            sentence=self.sentence(index),
            request=self.request,
            topics=f"{self._capitalized_topic(0)}, {self.topic(1)} and {self.topic(2)}",
            prose=self.prose(index * 2),
            letter=self.letter,
        )

    @property
    def letter(self) -> str:
        quote = f"You wrote: “{self.sentence(0)}”"
        amount = next((value for value in self._known.get("amount", ()) if isinstance(value, int | float)), None)
        if self._is_refund and amount is not None:
            shown = _AMOUNT if _AMOUNT in self._prompt.task else f"{amount:.2f}"
            case = f" for {self.cases[-1]}" if self.cases else ""
            outcome = f"We will refund {shown}{case}. The money will reach you within a week."
        else:
            outcome = "We have looked into it and are working on a solution."
        return (
            f"Dear customer,\n\nThank you for contacting us. {quote}\n\n{outcome}"
            " If anything is missing, please let us know.\n\nKind regards,\nYour support team"
        )

    def word(self, field: SchemaField) -> str:
        return slug(self.topic(field.index)) or slug(field.name) or "item"

    def number(self, field: SchemaField) -> float:
        for names, value in TYPICAL_NUMBERS:
            if set(names.split()).intersection(field.words):
                return value
        return field.index + 1

    def boolean(self, field: SchemaField) -> bool:
        if set(_FALSE_FIELDS.split()).intersection(field.words):
            return False
        verdicts = {"passes", "passed", "valid", "accepted", "ok", "approved", "fits", "holds"}
        return not (verdicts.intersection(field.words) and self.unfinished)

    def ranked(self, field: SchemaField, options: Sequence[Any]) -> list[Any]:
        """The options that the prompt mentions, then positive ones, then others. List items rotate through them."""
        task, material = self._prompt.task.lower(), " ".join(self._prompt.materials).lower()
        positive = _POSITIVE.split()

        def rank(option: Any) -> tuple[int, int, int, int]:
            word = str(option).lower()
            pattern = re.compile(rf"\b{re.escape(word).replace('_', '[_ ]')}\b")
            is_text = isinstance(option, str) and len(word) > 2
            is_known = option in self._known.get(_normalized(field.name), ())
            is_in_task = is_text and pattern.search(task) is not None
            mentions = len(pattern.findall(material)) if is_text else 0
            position = positive.index(word) if word in positive else len(positive)
            return (not is_known, not is_in_task, -min(mentions, 5), position)

        ordered = sorted(options, key=rank) if len(options) > 1 else list(options)
        start = field.index % len(ordered)
        return [*ordered[start:], *ordered[:start]]

    def count(self, field: SchemaField) -> int:
        if set(_ERROR_LISTS.split()).intersection(field.words):
            return 1 if self.unfinished else 0
        instructions = f"{self._prompt.task} {self._prompt.turn_instructions}"
        if "agents" in field.words and (found := _TEAM_SIZE.search(instructions)):
            return int(_NUMBER_WORDS.get(found[1].lower(), found[1]))
        return 3


def _normalized(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
