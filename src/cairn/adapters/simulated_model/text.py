"""Extract keywords, sentences and titles from text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, cast

_WORD = re.compile(r"[^\W\d_][\w'-]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_IMPERATIVE = re.compile(r"(?:^|[.:;!?\n]\s*|\b(?:and|then|to)\s+)([A-Za-z]+)")
_STOP_WORDS = frozenset(
    """a about above after again all also although an and any are as ask at be because been before being below between
    both but by can could create did do does done down draft during each either every few first for from further gave
    get give given had has have having here how if in into is it its itself just know last like make makes many may me
    might more most much must need needs neither new no nor not now of off on once one only or other our out over own
    please put same say see shall she should since so some such take than that the their them then there these they
    this those through to too under until up upon use used using very want was we were what when where which while who
    whom why will with within without would write you your yourself them task file files json markdown text words
    answer answers content contents result results result. describe described list lists short whole step steps based
    following provide decide propose whether check found find look lead leads dear thank thanks kind regards well still
    half three four five instead ours ourselves theirs large small week weeks month months year years need days said
    says tell tells told build built know knows track tracks come comes work works offer offers argue mean means
    goes right wrong long next ever never always only every even show shows sent send sends stop costs cost
    todo fixme speaks speak expected actual include including produce produced read agent agents good best
    contradicts topics points summary
    """.split()  # noqa: SIM905
)


_CONJUNCTIONS = frozenset(
    """without that which with and or instead because so when where while if than but for of by""".split()  # noqa: SIM905
)
_CODE = re.compile(r" \| |^(def|class|return|import|from \w+ import)\b|[!=]=|->|%%|;$|:$")
_VERBAL = re.compile(r"(ed|ing|ly)$")


def keywords(material: Iterable[str], task: str = "", limit: int = 12) -> list[str]:
    """Frequent words, most frequent first. Ties keep the order of appearance."""
    counted: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    imperatives = {found[1].lower() for found in _IMPERATIVE.finditer(task)}
    for weight, text in (*((3, text) for text in material), (2, task)):
        for word in _WORD.findall(text[:8000]):
            lower = word.lower()
            if len(lower) > 3 and not _VERBAL.search(lower) and lower not in _STOP_WORDS | imperatives:
                counted[lower] += weight
                spelled.setdefault(lower, lower if word.istitle() else word)
    return [spelled[word] for word, _ in counted.most_common(limit)]


def sentences(text: str, limit: int = 12) -> list[str]:
    """Complete sentences, unchanged. Skips code, data and headers."""
    found: list[str] = []
    for piece in _SENTENCE.split(text[:20_000]):
        line = re.sub(r"^[\s#>*|`-]+(\d+\. )?|[\s|`]+$", "", piece).strip()
        if (
            20 <= len(line) <= 240
            and _WORD.search(line)
            and not line.startswith(("{", "[", "<", '"', "File:", "Path:", "Simulated:"))
            and not _CODE.search(line)
        ):
            found.append(line)
    return list(dict.fromkeys(found))[:limit]


def title(text: str, limit: int = 60) -> str:
    """The first clause of a task as a heading."""
    line = next((line.strip(" .:#*-") for line in text.splitlines() if line.strip(" .:#*-")), "The work")
    first = re.split(r"(?<=[a-z0-9)])[.;:!?](?:\s|$)", line, maxsplit=1)[0]
    cut = first if len(first) <= limit else first[:limit].rpartition(" ")[0]
    return cut[:1].upper() + cut[1:]


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-")


def label(name: str) -> str:
    """Turn an identifier such as `ticketId` into "Ticket id"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+", " ", name).strip()
    return spaced[:1].upper() + spaced[1:].lower() if spaced else ""


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every named value inside a value, with its name, outermost first."""
    if name:
        yield name, value
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield from leaves(inner, key)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value)[:20]:
            yield from leaves(inner)


def strings_in(value: Any) -> Iterator[str]:
    """Every string inside a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from strings_in(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value)[:20]:
            yield from strings_in(inner)


def opening_clause(sentence: str, limit: int = 7) -> str:
    """The first words of a sentence, up to a conjunction or punctuation."""
    words = re.sub(r"[^\w' -]", " ", re.split(r"[,;:(“]", sentence)[0]).split()
    ends = [index for index, word in enumerate(words) if index > 2 and word.lower() in _CONJUNCTIONS]
    return " ".join(words[: min([limit, *ends])])
