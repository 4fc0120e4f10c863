"""Links between pages resolve, and the operations and settings that pages mention exist."""

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
    """The anchor that GitHub generates for a heading."""
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
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (fragment and fragment not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_operations_exist(page: Path) -> None:
    """`GET /api/…` in a page is an operation of the API. The names of path parameters may differ."""
    mentioned = set(_OPERATION.findall(read(page)))
    assert [operation for operation in mentioned if not any(matches(operation, known) for known in operations())] == []


@cache
def operations() -> list[tuple[str, str]]:
    paths: dict[str, Any] = {"/api/openapi.json": {"get": {}}, **specification()["paths"]}
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


def matches(mentioned: tuple[str, str], known: tuple[str, str]) -> bool:
    steps = list(zip_longest(mentioned[1].split("/"), known[1].split("/"), fillvalue=""))
    return mentioned[0] == known[0] and all(step == known or known.startswith("{") for step, known in steps)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_settings_exist(page: Path) -> None:
    known = {f"CAIRN_{name.upper()}" for name in Settings.model_fields} | {"CAIRN_REQUIRE_SYSTEM_PACKAGES"}
    known |= {"CAIRN_SERVER", "CAIRN_TOKEN"}  # read by the command line only
    assert set(_VARIABLE.findall(read(page))) - known == set()


def test_every_page_is_linked() -> None:
    """Every page is reachable from the README."""
    remaining, found = [ROOT / "README.md"], {ROOT / "README.md"}
    while remaining:
        page = remaining.pop()
        targets = [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if "://" not in link]
        new = {target for target in targets if target.suffix == ".md"} - found
        found |= new
        remaining += new
    assert set(pages()) - found == set()


def test_pictures_are_small() -> None:
    pictures = sorted((ROOT / "docs" / "pictures").iterdir())
    assert [picture.name for picture in pictures] == ["run-dark.png", "run-light.png"]
    assert all(picture.stat().st_size < 200_000 for picture in pictures)
