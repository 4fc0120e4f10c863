"""Links between pages lead somewhere, and what pages name is there."""

from __future__ import annotations

import re
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from cairn.config import Settings
from tests.api.app import specification
from tests.docs.pages import ROOT, pages, prose, read

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:srcset|src)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_OPERATION = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) (/api/[^\s`,;?)]+)")
_VARIABLE = re.compile(r"\bCAIRN_[A-Z_]+\b")


def anchor(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {anchor(heading) for heading in _HEADING.findall(prose(page))}


def links(page: Path) -> list[str]:
    return [first or second for first, second in _LINK.findall(prose(page))]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    broken: list[str] = []
    for link in links(page):
        if link.startswith(("http://", "https://")):
            continue
        path, _, place = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (place and place not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_operations_exist(page: Path) -> None:
    """`GET /api/…` in a page is an operation of the API, whatever its parameters are called."""
    named = set(_OPERATION.findall(read(page)))
    assert [one for one in named if not any(is_same(one, other) for other in operations())] == []


@cache
def operations() -> list[tuple[str, str]]:
    paths: dict[str, Any] = {"/api/openapi.json": {"get": {}}, **specification()["paths"]}
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


def is_same(named: tuple[str, str], known: tuple[str, str]) -> bool:
    steps = list(zip_longest(named[1].split("/"), known[1].split("/"), fillvalue=""))
    return named[0] == known[0] and all(step == other or other.startswith("{") for step, other in steps)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_settings_exist(page: Path) -> None:
    known = {f"CAIRN_{name.upper()}" for name in Settings.model_fields} | {"CAIRN_REQUIRE_SYSTEM_PACKAGES"}
    known |= {"CAIRN_SERVER", "CAIRN_TOKEN"}  # of the command line alone
    assert set(_VARIABLE.findall(read(page))) - known == set()


def test_every_page_can_be_found() -> None:
    """From the README, by following links."""
    left, found = [ROOT / "README.md"], {ROOT / "README.md"}
    while left:
        page = left.pop()
        targets = [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if "://" not in link]
        new = {target for target in targets if target.suffix == ".md"} - found
        found |= new
        left += new
    assert set(pages()) - found == set()


def test_pictures_are_small() -> None:
    pictures = sorted((ROOT / "docs" / "pictures").iterdir())
    assert [picture.name for picture in pictures] == ["run-dark.png", "run-light.png"]
    assert all(picture.stat().st_size < 200_000 for picture in pictures)
