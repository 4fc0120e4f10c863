"""The registry selects the runner for each mode."""

from __future__ import annotations

from cairn.core.execution import Failure
from cairn.core.states import ExecutionMode
from cairn.ports import Errored, Produced
from cairn.runners import Ctx, FunctionRegistry, RunnerRegistry, make_runners
from tests.mentions import mentions
from tests.runners.work_orders import checkpoint, function_checkpoint, work


async def test_work_is_run_by_the_runner_of_its_mode() -> None:
    functions = FunctionRegistry()

    @functions
    async def f(ctx: Ctx) -> None: ...

    runners = make_runners(functions=functions)
    assert set(runners) == {ExecutionMode.FUNCTION, ExecutionMode.HUMAN_ONLY}
    assert await runners.run(work(function_checkpoint())) == Produced(())
    assert await runners.run(work(checkpoint(form=["a"]), answer={"a": "x"})) == Produced((), {"a": "x"})


async def test_a_mode_without_a_runner_is_an_error() -> None:
    definition = checkpoint(prompt="Do it.")
    message = mentions("agentic", "function, human_only")
    assert await make_runners().run(work(definition)) == Errored(Failure("no_runner", message))
    message = mentions("agentic")
    assert await RunnerRegistry({}).run(work(definition)) == Errored(Failure("no_runner", message))
