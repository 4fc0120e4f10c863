"""A pytest plugin: how much the tests that draw at random try, from one seed.

`make test` tries little of each, `make prove` tries a lot. `--seed` repeats a run.
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
    """How often each kind of thing is tried."""

    property_examples: int  # percent of the examples that a property test asks for
    walk_commands: int  # commands in random walks over the core
    saved_walks: int  # random walks over a database, on each kind of database
    api_examples: int  # requests for each operation of the API
    server_kills: int  # of one server during one run
    crash_points: int  # at most so many for each crash scene
    notice_crash_points: int  # at most so many while a notification is sent
    soak_kills: int  # of a server that several people use at once
    crowd: int  # agents at work at once
    queued_scripts: int  # in one stage


SHORT = Effort(
    property_examples=50,
    walk_commands=6_000,
    saved_walks=6,
    api_examples=2,
    server_kills=10,
    crash_points=3,
    notice_crash_points=4,
    soak_kills=2,
    crowd=30,
    queued_scripts=40,
)
LONG = Effort(
    property_examples=1_000,
    walk_commands=300_000,
    saved_walks=100,
    api_examples=50,
    server_kills=80,
    crash_points=1_000,
    notice_crash_points=1_000,
    soak_kills=60,
    crowd=100,
    queued_scripts=100,
)
EFFORTS = {"short": SHORT, "long": LONG}


class _Chosen:
    effort = SHORT
    seed = 0


def effort() -> Effort:
    return _Chosen.effort


def examples(count: int) -> int:
    """So many examples of a property, more or fewer by the effort."""
    return max(1, count * effort().property_examples // 100)


def seed() -> int:
    return _Chosen.seed


def chance(name: str) -> random.Random:
    """Random choices of one test: the same ones for the same seed, whatever other tests draw."""
    return random.Random(f"{seed()}/{name}")


def some(choices: Sequence[T], most: int, name: str) -> list[T]:
    """At most so many of these, in their order."""
    if len(choices) <= most:
        return list(choices)
    return [choices[at] for at in sorted(chance(name).sample(range(len(choices)), most))]


# ---- hooks -----------------------------------------------------------------------------------------------
def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("effort")
    group.addoption("--effort", choices=list(EFFORTS), default="short", help="how much tests at random try")
    group.addoption("--seed", type=int, default=None, help="repeat the random choices of an earlier run")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before test modules are imported, and before workers are started with the same options."""
    if config.option.seed is None:
        config.option.seed = random.SystemRandom().randrange(1, 10**9)
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(config.option.seed)
    _Chosen.effort, _Chosen.seed = EFFORTS[config.option.effort], config.option.seed
    # Time proves nothing on a machine that does other things as well.
    hurried = [HealthCheck.too_slow, HealthCheck.data_too_large]
    settings.register_profile("cairn", max_examples=examples(100), deadline=None, suppress_health_check=hurried)
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
