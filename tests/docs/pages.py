"""The pages of the documentation and their code blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(
    r"^(?P<fence>```+)(?P<language>\w*) ?(?P<mark>[^\n]*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A code block of a page. `mark` is the text after the language."""

    page: Path
    line: int
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@cache
def pages() -> tuple[Path, ...]:
    top = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return (*top, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*.md")))


@cache
def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks_of(page: Path) -> list[Block]:
    text = read(page)
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match["language"], match["mark"], match["text"])
        for match in _FENCE.finditer(text)
    ]


def blocks(language: str) -> list[Block]:
    return [block for page in pages() for block in blocks_of(page) if block.language == language]


def prose(page: Path) -> str:
    """The text without code blocks."""
    return _FENCE.sub("", read(page))
