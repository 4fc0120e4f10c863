"""Confidence intervals of proportions, against values from the literature."""

from __future__ import annotations

import pytest

from cairn.services.rules.scoring import Proportion, agrees, user_decision


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
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
def test_wilson_intervals_match_the_literature(count: int, total: int, low: float, high: float) -> None:
    proportion = Proportion(count, total)
    assert tuple(round(bound, 4) for bound in proportion.bounds) == (low, high)
    assert proportion.rate == (count / total if total else None)


@pytest.mark.parametrize(
    ("status", "is_modified", "decision"),
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
def test_the_final_decision_of_users(status: str, is_modified: bool, decision: str | None) -> None:
    """A timeout is not a decision, and approving a modified action is not an agreement."""
    assert user_decision(status, is_modified) == decision
    assert agrees(decision or "") is (decision == "approved")
