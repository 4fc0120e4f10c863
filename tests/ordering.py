"""A pytest plugin: run slow tests first, so that no worker starts one at the end."""

from __future__ import annotations

import pytest

LONG = ("chaos", "e2e")  # markers of tests that start processes


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not any(item.get_closest_marker(name) for name in LONG))
