"""Files of every format, short and about the task. Where there is room for it they say that they are simulated."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable
from typing import Any, cast

from cairn.adapters.simulated_model.discussion_text import heard
from cairn.adapters.simulated_model.field_meanings import FieldPlace
from cairn.adapters.simulated_model.plausible_values import PlausibleValues
from cairn.adapters.simulated_model.prompt_parser import ParsedPrompt, RequestedOutput
from cairn.adapters.simulated_model.schema_values import Impossible, make
from cairn.adapters.simulated_model.text import clause, label, slug

NOTE = "Simulated: made by the built-in model, no provider was asked."


def content(wanted: RequestedOutput, reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    """The file whole."""
    return _MAKERS.get(wanted.format, _text)(wanted, reading, knowing)


def value(schema: Any, knowing: PlausibleValues) -> Any:
    """For a schema; if nothing fits, an object that says so."""
    try:
        return make(schema, knowing)
    except Impossible:
        return {"note": NOTE}


def _json(wanted: RequestedOutput, _reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    schema = wanted.schema if wanted.schema is not None else _free(wanted)
    return json.dumps(value(schema, knowing), indent=2, ensure_ascii=False) + "\n"


def _free(wanted: RequestedOutput) -> dict[str, Any]:
    """Where nobody says what is in it."""
    text = {"type": "string"}
    members = {
        "title": text,
        "summary": {**text, "description": wanted.description},
        "points": {"type": "array", "items": text},
    }
    return {"type": "object", "properties": members, "required": list(members)}


def _heading(wanted: RequestedOutput) -> str:
    return label(wanted.name) or "Result"


def _points(knowing: PlausibleValues, most: int = 4) -> list[str]:
    return list(dict.fromkeys(knowing.sentence(n) for n in range(most)))


def _changes(reading: ParsedPrompt) -> list[str]:
    """What was asked to be done otherwise."""
    lines = [line.strip(" -*`") for line in reading.feedback.splitlines()]
    told = [line for line in lines if len(line) > 5 and not line.startswith(("===", "text", "File", "Path"))][:4]
    return [*told, *(["What validation has found is put right."] if reading.was_refused else [])]


def _markdown(wanted: RequestedOutput, reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    lines = [f"# {_heading(wanted)}", "", f"> {NOTE}", "", "## In short", ""]
    if wanted.description:
        lines += [f"{wanted.description.rstrip('.')}.", ""]
    lines += [f"It is about {knowing.topic(0)}, {knowing.topic(1)} and {knowing.topic(2)}.", ""]
    lines += ["## What matters", "", *(f"- {point}" for point in _points(knowing, 5)), ""]
    if said := list(heard(reading)):
        lines += ["## What was said", "", *(f"- **{speaker}**: {words}" for speaker, words in said), ""]
    if rows := _facts(reading):
        lines += ["## What is known", "", "| what | value |", "| --- | --- |"]
        lines += [f"| {name} | {told} |" for name, told in rows] + [""]
    if changes := _changes(reading):
        lines += ["## Changed since", "", *(f"- {change}" for change in changes), ""]
    steps = (next(knowing.texts(FieldPlace("next_steps", index=n))) for n in range(3))
    return "\n".join([*lines, "## Next", "", *(f"{n}. {step}" for n, step in enumerate(steps, 1))]) + "\n"


def _facts(reading: ParsedPrompt, most: int = 6) -> list[tuple[str, str]]:
    """Plain members of what was given."""
    found: dict[str, str] = {}
    for one in reading.values:
        if isinstance(one, dict):
            for name, inner in cast("dict[str, Any]", one).items():
                if isinstance(inner, str | int | float) and len(str(inner)) < 80:
                    found.setdefault(label(name), str(inner).replace("|", "/").replace("\n", " "))
    return list(found.items())[:most]


def _table(reading: ParsedPrompt, knowing: PlausibleValues) -> tuple[list[str], list[list[str]]]:
    """Rows that were given, or rows about the topics."""
    for one in reading.values:
        for inner in (one, *(cast("dict[str, Any]", one).values() if isinstance(one, dict) else ())):
            rows = cast("list[Any]", inner) if isinstance(inner, list) else []
            if rows and all(isinstance(row, dict) for row in rows):
                columns = list(cast("dict[str, Any]", rows[0]))
                return columns, [[str(cast("dict[str, Any]", row).get(name, "")) for name in columns] for row in rows]
    rows = [[str(n + 1), knowing.topic(n), knowing.sentence(n)] for n in range(4)]
    return ["number", "topic", "note"], rows


def _csv(wanted: RequestedOutput, reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    columns, rows = _table(reading, knowing)
    named = re.search(r"columns?:?\s+([\w ,;/-]+)", wanted.description, re.IGNORECASE)
    if named:
        asked = [one.strip() for one in re.split(r"[,;/]| and ", named[1]) if one.strip()]
        columns = asked
        rows = [[_cell(name, n, knowing) for name in asked] for n in range(len(rows) or 3)]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def _cell(name: str, index: int, knowing: PlausibleValues) -> str:
    place = FieldPlace(name, index=index)
    found = next(knowing.known(place), None)
    return str(found) if found is not None else next(knowing.texts(place)).splitlines()[0]


def _mermaid(_wanted: RequestedOutput, _reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    told = [clause(sentence) for sentence in knowing.sentences] or [knowing.topic(n) for n in range(4)]
    steps = list(dict.fromkeys(re.sub(r"[^\w' -]", " ", one).strip() for one in told if one))[:4]
    names = [f"s{n}" for n in range(1, len(steps) + 1)]
    lines = ["flowchart TD", f"  %% {NOTE}", "  start([Start])"]
    lines += [f"  {name}[{step}]" for name, step in zip(names, steps, strict=True)]
    lines += ["  check{Is it right?}", "  done([Done])", f"  {' --> '.join(['start', *names, 'check'])}"]
    return "\n".join([*lines, "  check -- yes --> done", f"  check -- no --> {names[0] if names else 'start'}"]) + "\n"


def _python(wanted: RequestedOutput, _reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    name = slug(wanted.name).replace("-", "_") or "work"
    name = name if name.isidentifier() else f"do_{name}"
    topics = json.dumps([knowing.topic(n) for n in range(3)], ensure_ascii=False)
    about = knowing.title.replace("\\", " ").replace('"', "'")
    return (
        f'"""{about}. {NOTE}"""\n\nTOPICS = {topics}\n\n\ndef {name}(items: list[str]) -> dict[str, int]:\n'
        '    """How often each topic is spoken of."""\n'
        "    return {topic: sum(topic.lower() in item.lower() for item in items) for topic in TOPICS}\n\n\n"
        f'if __name__ == "__main__":\n    print({name}(TOPICS))\n'
    )


def _html(wanted: RequestedOutput, reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    heading, points = html.escape(_heading(wanted)), "".join(f"<li>{html.escape(p)}</li>" for p in _points(knowing))
    facts = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(v)}</td></tr>" for n, v in _facts(reading))
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{heading}</title></head>\n<body>\n'
        f"<h1>{heading}</h1>\n<p><em>{NOTE}</em></p>\n<p>{html.escape(knowing.title)}.</p>\n<ul>{points}</ul>\n"
        + (f"<table>{facts}</table>\n" if facts else "")
        + "</body>\n</html>\n"
    )


def _text(wanted: RequestedOutput, reading: ParsedPrompt, knowing: PlausibleValues) -> str:
    is_letter = re.search(
        r"\b(mail|email|letter|reply|message)\b", f"{wanted.name} {wanted.description} {reading.task}", re.IGNORECASE
    )
    if is_letter:
        return f"Subject: {knowing.subject}\n\n{knowing.letter}\n\n({NOTE})\n"
    lines = [_heading(wanted), "", knowing.prose(0, 3), ""]
    lines += [f"- {change}" for change in _changes(reading)]
    return "\n".join([*lines, f"({NOTE})"]) + "\n"


_MAKERS: dict[str, Callable[[RequestedOutput, ParsedPrompt, PlausibleValues], str]] = {
    "json": _json,
    "md": _markdown,
    "csv": _csv,
    "mmd": _mermaid,
    "py": _python,
    "html": _html,
}
