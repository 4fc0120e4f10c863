"""Shares with their confidence intervals, against values from the literature."""

from __future__ import annotations

import pytest

from cairn.services.rules.scoring import Proportion, agrees, answer_of


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # Newcombe 1998, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilson(count: int, of: int, low: float, high: float) -> None:
    share = Proportion(count, of)
    assert tuple(round(bound, 4) for bound in share.bounds) == (low, high)
    assert share.rate == (count / of if of else None)


@pytest.mark.parametrize(
    ("status", "is_modified", "answer"),
    [
        ("approved", False, "approved"),
        ("approved", True, "modified"),
        ("rejected", False, "rejected"),
        ("revision_requested", False, "revision_requested"),
        ("timeout", False, None),
        ("withdrawn", False, None),
        ("auto_approved", False, None),
        ("pending", False, None),
    ],
)
def test_what_people_said(status: str, is_modified: bool, answer: str | None) -> None:
    """Silence is no answer, and a correction is no yes to what was proposed."""
    assert answer_of(status, is_modified) == answer
    assert agrees(answer or "") is (answer == "approved")
