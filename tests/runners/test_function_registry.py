"""Functions are registered under the names that definitions use."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cairn.ports import Produced, ProducedFile
from cairn.runners import Ctx, FunctionRegistry, FunctionRunner
from cairn.runners.functions import function as default_registry
from tests.runners.work_orders import function_checkpoint, work


def returns(value: Any) -> Any:
    async def f(ctx: Ctx) -> Any:
        return value

    return f


def other(ctx: Ctx) -> None: ...


# ---- the registry ---------------------------------------------------------------------------------------


def test_a_function_is_registered_by_its_own_or_another_name() -> None:
    registry = FunctionRegistry()

    @registry
    def count(ctx: Ctx) -> int:
        return 1

    @registry("reports.count")
    async def second(ctx: Ctx) -> int:
        return 2

    assert {name: (registered.function, registered.is_async) for name, registered in registry.items()} == {
        "count": (count, False),
        "reports.count": (second, True),
    }


def test_a_name_in_use_is_rejected_unless_replace_is_set() -> None:
    registry = FunctionRegistry()
    registry.register("f", returns(1))
    registry.register("f", returns(2))  # same location: the module was reloaded
    with pytest.raises(ValueError, match=r"'f'.*returns.<locals>.f.*other"):
        registry.register("f", other)
    registry.register("f", other, replace=True)
    assert registry["f"].function is other


@pytest.mark.parametrize("name", ["", "a b", "a.", "1a", "a/b", "zähle"])
def test_an_invalid_function_name_is_rejected(name: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        FunctionRegistry().register(name, other)


async def test_the_default_registry_serves_a_runner_without_one() -> None:
    default_registry.register("f", returns("default"), replace=True)
    assert await FunctionRunner().run(work(function_checkpoint())) == Produced(
        (ProducedFile("output", "json", b'"default"'),)
    )
