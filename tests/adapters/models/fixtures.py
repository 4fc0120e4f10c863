"""Fixtures for the fake provider."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest

from tests.adapters.models.fake_provider import FakeProvider, provider_in_a_thread, running_provider


@pytest.fixture
async def provider() -> AsyncGenerator[FakeProvider]:
    async with running_provider() as running:
        yield running


@pytest.fixture
def provider_in_thread() -> Generator[FakeProvider]:
    with provider_in_a_thread() as running:
        yield running
