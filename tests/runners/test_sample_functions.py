"""The sample functions of Cairn in many languages, and the template that uses them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cairn.definitions import expand, parse
from cairn.definitions.templates import builtin_templates
from cairn.documents import Value
from cairn.ports import Errored, Produced, ProducedFile
from cairn.runners import FunctionRunner, map_input, read_value, run_context
from cairn.runners.samples import functions
from cairn.runners.samples.words import keywords_of, paragraphs_of, sentences_of, words_of
from tests.mentions import mentions
from tests.runners.work_orders import checkpoint, work

RUNNER = FunctionRunner(functions.function)
CAIRN = (
    "A cairn is a pile of stones that marks a way. Walkers add a stone when they pass, so that those who come after"
    " them find the path in fog and snow. The marks are simple, they last, and everybody can read them."
)


async def call(name: str, inputs: Value, **parameters: Value) -> Any:
    execution: Value = {
        "mode": "function",
        "function_config": {"function": f"samples.{name}", "parameters": parameters},
    }
    outcome = await RUNNER.run(work(checkpoint(execution=execution), input=inputs))
    assert isinstance(outcome, Produced), outcome
    (artifact,) = outcome.artifacts
    assert isinstance(artifact, ProducedFile)
    return json.loads(artifact.data)


# ---- words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 3.14, e-mail me!", ["It's", "3.14", "e-mail", "me"]),
        ("Größe & Übermut", ["Größe", "Übermut"]),
        ("L\u2019été n\u2019est pas là…", ["L\u2019été", "n\u2019est", "pas", "là"]),
        ("e\u0301te\u0301", ["été"]),
        ("यह एक वाक्य है।", ["यह", "एक", "वाक्य", "है"]),
        ("می\u200cروم بیرون؟", ["می\u200cروم", "بیرون"]),
        ("我喜欢 Python 3。", ["我", "喜", "欢", "Python", "3"]),
        ("한국어 텍스트입니다.", ["한국어", "텍스트입니다"]),
        ("snake_case", ["snake", "case"]),
        ("— … !?", []),
        ("", []),
    ],
)
def test_words_are_found_in_any_language(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("text", "sentences", "paragraphs"),
    [
        (CAIRN, 3, 1),
        ("It costs 3.50 today. Really?", 2, 1),
        ("“Go!” she said.", 2, 1),
        ("我喜欢读书。读书很好\uff01", 2, 1),
        ("यह एक वाक्य है। दूसरा वाक्य।", 2, 1),
        ("one\r\n\r\ntwo\r\rthree\n \nfour", 4, 4),
        ("...\n\n!", 0, 0),
    ],
)
def test_sentences_and_paragraphs_are_counted(text: str, sentences: int, paragraphs: int) -> None:
    assert (len(sentences_of(text)), len(paragraphs_of(text))) == (sentences, paragraphs)


def test_keywords_exclude_common_words() -> None:
    assert keywords_of("The path is a path; und der Weg, et l\u2019eau, 42 Anna's") == [
        "path",
        "path",
        "Weg",
        "eau",
        "Anna",
    ]
    assert keywords_of("读书很好") == ["读书", "书很", "很好"]


# ---- the functions ---------------------------------------------------------------------------------------------


async def test_count_words() -> None:
    assert await call("count_words", {"text": CAIRN}) == {
        "words": 43,
        "unique_words": 34,
        "sentences": 3,
        "paragraphs": 1,
        "characters": 208,
        "longest_word": "everybody",
    }
    assert await call("count_words", {"text": ""}) == {
        "words": 0,
        "unique_words": 0,
        "sentences": 0,
        "paragraphs": 0,
        "characters": 0,
        "longest_word": "",
    }


async def test_find_keywords_ranks_by_count_then_length() -> None:
    text = "Snow and snow, SNOW! Fog, stones; fog."
    assert await call("find_keywords", {"text": text}, limit=2) == {
        "keywords": [{"word": "Snow", "count": 3}, {"word": "Fog", "count": 2}]
    }
    assert await call("find_keywords", {"text": text}, limit=0) == {"keywords": []}


async def test_reading_time() -> None:
    text = "word " * 300
    assert await call("reading_time", {"text": text}) == {
        "minutes": 1.5,
        "seconds": 90,
        "words": 300,
        "words_per_minute": 200,
    }
    assert (await call("reading_time", {"text": "读" * 400}, words_per_minute=100))["seconds"] == 120


@pytest.mark.parametrize(
    ("name", "inputs", "parameters", "type", "message"),
    [
        (
            "reading_time",
            {"text": "x"},
            {"words_per_minute": 0},
            "ValueError",
            mentions("words_per_minute", "0"),
        ),
        ("count_words", {"words": "x"}, {}, "TypeError", mentions()),
        ("find_keywords", ["x"], {}, "TypeError", mentions()),
    ],
)
async def test_invalid_inputs_are_reported(name: str, inputs: Value, parameters: Any, type: str, message: str) -> None:
    execution: Value = {
        "mode": "function",
        "function_config": {"function": f"samples.{name}", "parameters": parameters},
    }
    outcome = await RUNNER.run(work(checkpoint(execution=execution), input=inputs))
    assert isinstance(outcome, Errored)
    assert outcome.error.type == type
    assert outcome.error.message == message
    assert "samples/functions.py" in outcome.error.trace


# ---- the template ----------------------------------------------------------------------------------------------

REPORT = f"""\
# Text report

```text
{CAIRN}
```

## Figures

| | |
|---|---:|
| Words | 43 |
| Different words | 34 |
| Sentences | 3 |
| Paragraphs | 1 |
| Characters | 208 |
| Words per sentence | 14.3 |
| Reading time | 13 s |

## Keywords

1. marks (2)
2. everybody (1)
3. Walkers (1)
4. simple (1)
5. stones (1)
6. cairn (1)
7. stone (1)
8. find (1)
9. last (1)
10. pass (1)
"""


async def run_template(text: str) -> str:
    """Run the checkpoints of the template in order and return its report."""
    (template,) = (template for template in builtin_templates() if template.name == "text-report")
    document, _ = template.read()
    pipeline = parse(expand(document))
    values: dict[str, Value] = {}
    outcome = None
    for definition in pipeline.checkpoints:
        mapped = map_input(definition, run_context({"text": text}, values))
        outcome = await RUNNER.run(work(definition, input=mapped))
        assert isinstance(outcome, Produced), outcome
        values[definition.key] = read_value(definition, outcome.artifacts, outcome.output)
    assert outcome is not None
    (report,) = outcome.artifacts
    assert (report.name, report.format) == ("report", "md")
    return report.read().decode()


async def test_the_template_writes_its_report() -> None:
    assert await run_template(CAIRN) == REPORT


async def test_a_text_without_words_still_gets_a_report() -> None:
    report = await run_template("```\n!")
    assert report.startswith("# Text report\n\n````text\n```\n!\n````\n\n## Figures")
    assert report.endswith("## Keywords\n\nThe text has no keywords.\n")


async def test_the_report_shows_the_start_of_a_long_text() -> None:
    report = await run_template("word " * 30_000)
    assert f"```text\n{'word ' * 59}word …\n```" in report
    assert "| Reading time | 150 min 0 s |" in report
