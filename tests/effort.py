"""A pytest plugin: how many cases random and crash tests try, drawn from one seed.

`make test` runs a short version of each test and `make prove` a long one. `--seed` repeats a session.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Effort:
    """How many cases each kind of test tries."""

    property_examples: int  # percent of the examples that a property test specifies
    walk_commands: int  # commands in random walks over the core
    action_walks: int  # random walks over the gate, until everything has ended
    saved_walks: int  # random walks that are saved, per kind of database
    api_examples: int  # requests per API operation
    server_kills: int  # kills of one server during one run
    crash_points: int  # at most, per scenario
    delivery_crash_points: int  # at most, while a notification is sent
    soak_kills: int  # kills of a server that several users use at the same time
    concurrent_agents: int
    queued_scripts: int  # in one stage


SHORT = Effort(
    property_examples=50,
    walk_commands=6_000,
    action_walks=20,
    saved_walks=6,
    api_examples=2,
    server_kills=10,
    crash_points=3,
    delivery_crash_points=4,
    soak_kills=2,
    concurrent_agents=30,
    queued_scripts=40,
)
LONG = Effort(
    property_examples=1_000,
    walk_commands=300_000,
    action_walks=3_000,
    saved_walks=100,
    api_examples=50,
    server_kills=80,
    crash_points=1_000,
    delivery_crash_points=1_000,
    soak_kills=60,
    concurrent_agents=100,
    queued_scripts=100,
)
EFFORTS = {"short": SHORT, "long": LONG}


class _Selected:
    effort = SHORT
    seed = 0


def effort() -> Effort:
    return _Selected.effort


def examples(count: int) -> int:
    """Scale the number of examples of a property test to the effort."""
    return max(1, count * effort().property_examples // 100)


def seed() -> int:
    return _Selected.seed


def chance(name: str) -> random.Random:
    """Return a random generator for one test. It depends on the seed, not on what other tests draw."""
    return random.Random(f"{seed()}/{name}")


def sample(choices: Sequence[T], limit: int, name: str) -> list[T]:
    """Draw at most `limit` of the choices and keep their order."""
    if len(choices) <= limit:
        return list(choices)
    return [choices[index] for index in sorted(chance(name).sample(range(len(choices)), limit))]


# ---- hooks -----------------------------------------------------------------------------------------------
def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("effort")
    group.addoption("--effort", choices=list(EFFORTS), default="short", help="how many cases random tests try")
    group.addoption("--seed", type=int, default=None, help="repeat the random choices of an earlier session")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Select the effort before test modules are imported, and before workers start with the same options."""
    if config.option.seed is None:
        config.option.seed = random.SystemRandom().randrange(1, 10**9)
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(config.option.seed)
    _Selected.effort, _Selected.seed = EFFORTS[config.option.effort], config.option.seed
    # Durations prove nothing on a busy machine.
    timing_checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    settings.register_profile("cairn", max_examples=examples(100), deadline=None, suppress_health_check=timing_checks)
    settings.load_profile("cairn")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.prove)


def pytest_report_header(config: pytest.Config) -> str:
    counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in asdict(effort()).items())
    return f"effort: {config.option.effort} ({counts})\nseed: {seed()} (repeat it with --seed {seed()})"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    terminalreporter.write_line(pytest_report_header(config))
