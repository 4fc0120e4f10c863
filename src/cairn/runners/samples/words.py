"""Find words, sentences and paragraphs of a text in any language, without a dictionary."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files
from itertools import groupby, pairwise

# Han, Hiragana and Katakana are written without spaces: each character counts as a word, as word processors do.
_UNSPACED = "\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JOINERS = "'\u2019\u02bc\u00b7\u2010\u2011\u200c\u200d-"
_SENTENCE = re.compile(
    r"(?<=[.!?\u2026\u061f\u06d4\u0964\u0965\u1362])[\"'\u201d\u2019\u00bb)\]]*\s+|[\u3002\uff01\uff1f]+"
)
_PARAGRAPH = re.compile(r"\n\s*\n")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_AFFIXES = re.compile("^[^\\W\\d_]{1,2}['\u2019]|['\u2019]s$")  # l'eau, Anna's


def words_of(text: str) -> list[str]:
    """All words, in order."""
    return _word().findall(unicodedata.normalize("NFC", text))


def keywords_of(text: str) -> list[str]:
    """All words except common ones. In scripts without spaces, all pairs of characters."""
    found: list[str] = []
    for is_pairs, group in groupby(
        _word().finditer(unicodedata.normalize("NFC", text)), lambda match: is_unspaced(match[0])
    ):
        if is_pairs:
            found += [left[0] + right[0] for left, right in pairwise(group) if left.end() == right.start()]
        else:
            found += [
                bare for match in group if len(bare := _AFFIXES.sub("", match[0])) > 1 and not bare[0].isdecimal()
            ]
    return [word for word in found if word.casefold() not in _common_words()]


def is_unspaced(word: str) -> bool:
    return _IS_UNSPACED.match(word) is not None


def sentences_of(text: str) -> list[str]:
    sentences = (sentence for paragraph in paragraphs_of(text) for sentence in _SENTENCE.split(paragraph))
    return [sentence for sentence in sentences if _word().search(sentence)]


def paragraphs_of(text: str) -> list[str]:
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    return [part for part in _PARAGRAPH.split(normal) if _word().search(part)]


@cache
def _word() -> re.Pattern[str]:
    """Matches a number, a character of a script without spaces, or letters with marks, hyphens and apostrophes."""
    letters = f"(?:[^\\W_{_UNSPACED}]++|[{_marks()}]++)++"
    return re.compile(f"\\d+(?:[.,:]\\d+)+|[{_UNSPACED}]|{letters}(?:[{_JOINERS}]{letters})*")


def _marks() -> str:
    """Vowel signs and accents, which `re` does not treat as parts of a word."""
    marks = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M"]
    ranges = groupby(enumerate(marks), key=lambda pair: pair[1] - pair[0])
    runs = [[code for _, code in run] for _, run in ranges]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


@cache
def _common_words() -> frozenset[str]:
    """Common words of English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and Russian."""
    return frozenset(files("cairn.runners.samples").joinpath("common_words.txt").read_text("utf-8").split())
