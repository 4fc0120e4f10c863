"""Hypothesis strategies for JSON values, with many awkward ones."""

from __future__ import annotations

from typing import cast

from hypothesis import strategies as st

from cairn.documents import Value

_WORDS = "yes no null ~ 1 0x1 1e3 .5 - + = << true Off 2026-01-01 0o7 +1 -.inf .nan a: a:b 'x' %x @x `x ... ---"
AWKWARD = [*_WORDS.split(" "), "http://x/y?z=1#f"]
LAYOUTS = [
    "",
    " lead",
    "trail ",
    "a: b",
    "a #b",
    "- a",
    "? b",
    "--- a",
    "\n",
    "\na",
    "a\n",
    "a\n\n",
    "a\n\n\n",
    " a\n b",
    "\ta\nb",
    "a\n  \nb",
    "a\n \n",
    "a\nb ",
    "#a\nb",
    "---\na\nb",
    "a\n---\nb",
    "- x\n- y",
    "a\r\nb",
]
LETTERS = list("ab :#-?,[]{}&*!|>'\"%@`\n\t\\ 01.e~<=_yn\r/\x85\u2028\ufeff\x00\x7f\uffff🚀é")

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.text(st.sampled_from(LETTERS), max_size=30),
    st.sampled_from(AWKWARD + LAYOUTS),
)
numbers = st.one_of(
    st.integers(-(10**30), 10**30),
    st.sampled_from([0, 2**53 + 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**400]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1.0, -0.0, 1e16, 1e-7, 5e-324, 1.7976931348623157e308]),
)
plain = st.one_of(st.none(), st.booleans(), numbers, texts)
values = cast(
    "st.SearchStrategy[Value]",
    st.recursive(
        plain,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
        max_leaves=15,
    ),
)


def exact(value: object) -> object:
    """A value whose equality distinguishes 1, 1.0 and true, and 0.0 and -0.0."""
    match value:
        case dict():
            return {key: exact(inner) for key, inner in cast("dict[str, object]", value).items()}
        case list():
            return [exact(inner) for inner in cast("list[object]", value)]
        case _:
            return (type(value).__name__, repr(value))


def nested(depth: int, *, of: str = "list") -> Value:
    value: Value = 1
    for _ in range(depth):
        value = [value] if of == "list" else {"a": value}
    return value
