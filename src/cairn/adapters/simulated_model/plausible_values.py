"""What would read well in a value, for somebody who has read the task and its material."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from cairn.adapters.simulated_model.field_meanings import FieldMeaning, FieldPlace
from cairn.adapters.simulated_model.phrases import NUMBERS, SAYINGS
from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt
from cairn.adapters.simulated_model.team_roles import team
from cairn.adapters.simulated_model.text import keywords, label, leaves, sentences, slug, title

_PROSE = (
    "summary description overview title subject reason reasoning rationale explanation text content result status"
    " answer body message notes comment analysis decision verdict findings passes valid score confidence"
)
_ALIKE = {"to": "email", "recipient": "email", "customeremail": "email"}  # what is handed on by another name
_FAULTS = "findings finding errors violations mismatches faults"  # of what was looked at, and is well
_OF_FAULT = {
    "path": "{file}",
    "expected": "a text that is finished",
    "actual": "{word}",
    "why": "Whoever reads it finds something that is still to be done.",
    "message": "It is not finished.",
}
_NOT_SO = "error failed fails blocked urgent escalate escalated requires needs duplicate spam missing rejected optional"
_GOOD = (
    "complete completed approve approved accept accepted pass passed valid yes ok true done ready success resolved"
    " medium normal moderate standard neutral open new"
)
FEW = 3  # topics of the material, below which the task is looked at
_NUMBERED = re.compile(r"(\w+?)_(?:id|number|no)")
_AMOUNT = "{{ amount }}"  # what a task may ask to have written, so that a corrected amount is in the text
_WANTS = tuple(
    re.compile(rf"\b({words})\b", re.IGNORECASE) for words in ("please|would like", "wants?|needs?|should|must|has to")
)
_UNFINISHED = re.compile(r"\b(TODO|TBD|FIXME|lorem ipsum)\b")
_COUNTED = re.compile(
    r"\b(\d{1,2}|two|three|four|five|six)\s+(?:\w+\s+)?(agents|people|experts|roles|specialists)\b", re.IGNORECASE
)
_SPELLED = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


class PlausibleValues(FieldMeaning):
    def __init__(self, reading: ParsedPrompt) -> None:
        self._reading = reading

    # ---- what it is about --------------------------------------------------------------------------------
    @cached_property
    def topics(self) -> list[str]:
        """What the material is about; where there is little of it, what the task is about as well."""
        read = self._reading
        found = keywords((*read.prose, *(said for _, said in read.statements if not read.prose)))
        more = keywords((), f"{read.task}\n{read.duty}") if len(found) < FEW else []
        return list(dict.fromkeys((*found, *more))) or ["result"]

    @cached_property
    def sentences(self) -> list[str]:
        """Whole ones of the material; questions only where there is nothing else."""
        found = list(dict.fromkeys(one for text in self._reading.prose for one in sentences(text)))
        whole = [one for one in found if one.endswith((".", "!", "”"))]
        return (whole or found)[:24]

    @cached_property
    def title(self) -> str:
        return title(self._reading.task or self._reading.duty)

    @cached_property
    def subject(self) -> str:
        """What a letter would be headed with."""
        given = [one for name in ("subject", "title") for one in self._known.get(name, ()) if isinstance(one, str)]
        if given:
            return given[0]
        pays = "Refund for" if self._pays else "Your"
        return f"{pays} {self.cases[-1]}" if self.cases else f"About {self.topic(0)} and {self.topic(1)}"

    @cached_property
    def cases(self) -> list[str]:
        """What has a number of its own in what was given, as people say it: order 12345."""
        found: dict[str, str] = {}
        for value in self._reading.values:
            for name, inner in leaves(value):
                told = _NUMBERED.fullmatch(name)
                if told and told[1] != "customer" and isinstance(inner, str | int) and not isinstance(inner, bool):
                    found.setdefault(told[1], f"{label(told[1]).lower()} {inner}")
        return list(found.values())

    @property
    def _pays(self) -> bool:
        return re.search(r"\b(refund|pay back|money back)\b", self._reading.task, re.IGNORECASE) is not None

    @property
    def asked_for(self) -> str:
        """The sentence that says what somebody wants."""
        wants = (one for words in _WANTS for one in self.sentences if words.search(one))
        return next(wants, self.sentence(0))

    @cached_property
    def team(self) -> list[tuple[str, str]]:
        return team(f"{self._reading.task} {self._reading.duty}")

    def topic(self, index: int) -> str:
        return self.topics[index % len(self.topics)]

    def sentence(self, index: int) -> str:
        if self.sentences:
            return self.sentences[index % len(self.sentences)]
        return f"The work is about {self.topic(index)} and {self.topic(index + 1)}."

    def prose(self, index: int, most: int = 2) -> str:
        return " ".join(dict.fromkeys(self.sentence(index + n) for n in range(most)))

    def reason(self, index: int) -> str:
        if self.unfinished:
            return f"It is not finished: {self.unfinished} is left in it."
        about = f"{' and '.join(self.cases[:2])}: " if self.cases else ""
        told = f"{about}“{self.sentence(index)}” That is what is known, and nothing speaks against it."
        return told[:1].upper() + told[1:]

    @cached_property
    def unfinished(self) -> str:
        """The word that shows it, of what was read."""
        found = (_UNFINISHED.search(text) for text in self._reading.materials)
        return next((one[0] for one in found if one), "")

    # ---- for places --------------------------------------------------------------------------------------
    @cached_property
    def _known(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for value in self._reading.values:
            for name, inner in leaves(value):
                found.setdefault(_plain(name), []).append(inner)
        return found

    def known(self, place: FieldPlace) -> Iterator[Any]:
        """What has a name of its own, such as an id or an amount, is handed on; what is to be written is not."""
        if place.name and not set(_PROSE.split()).intersection(place.words) and "agents" not in place.parents:
            name = _ALIKE.get(_plain(place.name), _plain(place.name))
            yield from self._known.get(name, [])[place.index : place.index + 3]

    def texts(self, place: FieldPlace) -> Iterator[str]:
        if "agents" in place.parents or "agents" in place.words:
            yield from self._of_agent(place)
        if set(_FAULTS.split()).intersection(place.parents) and self.unfinished and place.name in _OF_FAULT:
            yield _OF_FAULT[place.name].format(file=self._reading.judged, word=self.unfinished)
        if "id" in place.words and place.parents:
            around = next((one for one in reversed(place.parents) if one), "")
            yield from (f"{head}{place.index + 1}" for head in (f"{around[:1].upper()}", f"{around[:3].upper()}-"))
        for names, *sayings in SAYINGS:
            if set(names.split()).intersection(place.words[-2:]):
                yield self._filled(sayings[place.index % len(sayings)], place.index)
        if place.description and len(place.description) > 15:
            about = place.description.strip().rstrip(".")
            yield f"{about[:1].upper()}{about[1:]}: {self.topic(place.index)}."
        yield f"{label(place.name) or 'This'}: {self.topic(place.index)} and {self.topic(place.index + 1)}."
        for n in range(1, 30):
            yield f"{self._topic(place.index + n)} {n + 1}"

    def _of_agent(self, place: FieldPlace) -> Iterator[str]:
        name, role = self.team[place.index % len(self.team)]
        last = place.words[-1] if place.words else ""
        if last in ("name", "agents", "title"):
            yield name
        elif last == "role":
            yield f"{role}."
        elif last == "prompt":
            is_system = "system" in place.words
            yield f"You are the {name}. {role}." if is_system else f"{self.title}. Speak as the {name}: {role.lower()}."

    def _topic(self, index: int) -> str:
        topic = self.topic(index)
        return topic[:1].upper() + topic[1:]

    def _filled(self, saying: str, index: int) -> str:
        return saying.format(
            n=index + 1,
            word=slug(self.topic(index)) or "item",
            topic=self.topic(index),
            Topic=self._topic(index),
            title=self.title if not index else f"{self.title}: {self.topic(index)}",
            subject=self.subject,
            reason=self.reason(index),
            sentence=self.sentence(index),
            other=self.sentence(index + 1),
            asked=self.asked_for,
            topics=f"{self._topic(0)}, {self.topic(1)} and {self.topic(2)}",
            prose=self.prose(index * 2),
            letter=self.letter,
        )

    @property
    def letter(self) -> str:
        told = f"You wrote: “{self.sentence(0)}”"
        amount = next((one for one in self._known.get("amount", ()) if isinstance(one, int | float)), None)
        if self._pays and amount is not None:
            shown = _AMOUNT if _AMOUNT in self._reading.task else f"{amount:.2f}"
            about = f" for {self.cases[-1]}" if self.cases else ""
            done = f"We pay back {shown}{about}. It will reach you within a week."
        else:
            done = "We have looked into it and are at work on it."
        return (
            f"Dear customer,\n\nthank you for writing to us. {told}\n\n{done}"
            " If anything is missing, please tell us.\n\nKind regards,\nyour team"
        )

    def word(self, place: FieldPlace) -> str:
        return slug(self.topic(place.index)) or slug(place.name) or "item"

    def number(self, place: FieldPlace) -> float:
        for names, value in NUMBERS:
            if set(names.split()).intersection(place.words):
                return value
        return place.index + 1

    def is_so(self, place: FieldPlace) -> bool:
        if set(_NOT_SO.split()).intersection(place.words):
            return False
        judged = {"passes", "passed", "valid", "accepted", "ok", "approved", "fits", "holds"}
        return not (judged.intersection(place.words) and self.unfinished)

    def order(self, place: FieldPlace, options: Sequence[Any]) -> list[Any]:
        """By what was read, then by what is said when all is well; in lists each item begins with another one."""
        own, read = self._reading.task.lower(), " ".join(self._reading.materials).lower()
        liked = _GOOD.split()

        def rank(option: Any) -> tuple[int, int, int, int]:
            word = str(option).lower()
            spelled = re.compile(rf"\b{re.escape(word).replace('_', '[_ ]')}\b")
            is_text = isinstance(option, str) and len(word) > 2
            is_known = option in self._known.get(_plain(place.name), ())
            is_asked = is_text and spelled.search(own) is not None
            said = len(spelled.findall(read)) if is_text else 0
            good = liked.index(word) if word in liked else len(liked)
            return (not is_known, not is_asked, -min(said, 5), good)

        ordered = sorted(options, key=rank) if len(options) > 1 else list(options)
        turn = place.index % len(ordered)
        return [*ordered[turn:], *ordered[:turn]]

    def count(self, place: FieldPlace) -> int:
        if set(_FAULTS.split()).intersection(place.words):
            return 1 if self.unfinished else 0
        if "agents" in place.words and (found := _COUNTED.search(f"{self._reading.task} {self._reading.duty}")):
            return int(_SPELLED.get(found[1].lower(), found[1]))
        return 3


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
