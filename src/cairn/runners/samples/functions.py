"""Sample functions that analyze a text in any language and write a report.

The template `text-report` uses them. They also show how to write and register functions.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from cairn.runners.ctx import Ctx
from cairn.runners.functions import function
from cairn.runners.prompt_layouts import fenced
from cairn.runners.samples.words import is_unspaced, keywords_of, paragraphs_of, sentences_of, words_of

MAX_EXCERPT = 300  # characters of the text at the beginning of a report


@function("samples.count_words")
def count_words(ctx: Ctx) -> dict[str, Any]:
    """Count the words, sentences, paragraphs and characters of `text`."""
    text = _text(ctx)
    words = words_of(text)
    ctx.log(f"{len(words)} words counted")
    return {
        "words": len(words),
        "unique_words": len({word.casefold() for word in words}),
        "sentences": len(sentences_of(text)),
        "paragraphs": len(paragraphs_of(text)),
        "characters": len(text),
        "longest_word": max(words, key=len, default=""),
    }


@function("samples.find_keywords")
def find_keywords(ctx: Ctx, limit: int = 10) -> dict[str, Any]:
    """Find the most frequent words of `text`, without common words. Equally frequent words are sorted by length."""
    spellings: dict[str, Counter[str]] = {}
    for word in keywords_of(_text(ctx)):
        spellings.setdefault(word.casefold(), Counter())[word] += 1
    counted = {spelled.most_common(1)[0][0]: spelled.total() for spelled in spellings.values()}
    ranked = sorted(counted.items(), key=lambda found: (-found[1], -len(found[0]), found[0]))
    return {"keywords": [{"word": word, "count": count} for word, count in ranked[: max(limit, 0)]]}


@function("samples.reading_time")
def reading_time(ctx: Ctx, words_per_minute: float = 200) -> dict[str, Any]:
    """Estimate how long it takes to read `text`. In scripts without spaces, two characters count as one word."""
    if not words_per_minute > 0:
        raise ValueError(f"words_per_minute must be greater than 0, not {words_per_minute}")
    words = words_of(_text(ctx))
    unspaced = sum(is_unspaced(word) for word in words)
    minutes = (len(words) - unspaced + unspaced / 2) / words_per_minute
    return {
        "minutes": round(minutes, 1),
        "seconds": math.ceil(minutes * 60),
        "words": len(words),
        "words_per_minute": words_per_minute,
    }


@function("samples.write_report")
def write_report(ctx: Ctx, title: str = "Text report") -> None:
    """Write `report.md` from `text` and the results of the other functions: `count`, `keywords` and `time`."""
    found = cast("Mapping[str, Any]", ctx.inputs)
    count, time = found["count"], found["time"]
    keywords = found["keywords"]["keywords"]
    rows = [
        ("Words", f"{count['words']:,}"),
        ("Different words", f"{count['unique_words']:,}"),
        ("Sentences", f"{count['sentences']:,}"),
        ("Paragraphs", f"{count['paragraphs']:,}"),
        ("Characters", f"{count['characters']:,}"),
        ("Words per sentence", f"{count['words'] / max(count['sentences'], 1):.1f}"),
        ("Reading time", _duration(time["seconds"])),
    ]
    listed = "\n".join(
        f"{number}. {keyword['word']} ({keyword['count']})" for number, keyword in enumerate(keywords, 1)
    )
    parts = [
        f"# {title}",
        _excerpt(_text(ctx)),
        "## Figures",
        "| | |\n|---|---:|\n" + "\n".join(f"| {name} | {value} |" for name, value in rows),
        "## Keywords",
        listed or "The text has no keywords.",
    ]
    ctx.stage("report.md", "\n\n".join(parts) + "\n")


def _text(ctx: Ctx) -> str:
    inputs = ctx.inputs
    text = cast("Mapping[str, Any]", inputs).get("text") if isinstance(inputs, Mapping) else None
    if not isinstance(text, str):
        raise TypeError("The input has no text. Map one, for example with `input_mapping: {text: input.text}`.")
    return text


def _excerpt(text: str) -> str:
    excerpt = text.strip()
    if len(excerpt) > MAX_EXCERPT:
        excerpt = re.sub(r"\s+\S*$", "", excerpt[:MAX_EXCERPT]) + " …"
    return fenced(excerpt, "text")


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
