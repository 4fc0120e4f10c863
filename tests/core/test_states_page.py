"""The state diagrams in the docs match the transition tables."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_state_diagrams_are_up_to_date() -> None:
    drawn = runpy.run_path(str(ROOT / "scripts" / "draw_states.py"))["page"]()
    page = (ROOT / "docs" / "reference" / "states.md").read_text(encoding="utf-8")
    assert page == drawn, "run scripts/draw_states.py"
