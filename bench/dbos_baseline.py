"""The same runs with DBOS alone: workflows of no-op steps that store their results.

The figures show how fast the machine is at the moment. Cairn also stores files, events and approvals per checkpoint.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time

from bench.run_sizes import REPEATS, SIZES, WARM_UP


async def measure_dbos() -> dict[str, float]:
    """Return milliseconds per step by run length. Runs in a separate process, because DBOS is a singleton."""
    command = [sys.executable, "-m", "bench.dbos_baseline"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert process.returncode == 0, "The DBOS baseline failed."
    return json.loads(output.splitlines()[-1])


def main() -> None:
    from dbos import DBOS

    @DBOS.step()
    def step(number: int) -> int:
        return number + 1

    @DBOS.workflow()
    def workflow(steps: int) -> int:
        number = 0
        for _ in range(steps):
            number = step(number)
        return number

    with tempfile.TemporaryDirectory(prefix="cairn-dbos-") as folder:
        DBOS(
            config={"name": "alone", "system_database_url": f"sqlite:///{folder}/dbos.db", "console_log_level": "ERROR"}
        )
        DBOS.launch()
        times: dict[int, list[float]] = {steps: [] for steps in SIZES}
        for repeat in range(WARM_UP + REPEATS):
            for steps in SIZES:
                started = time.perf_counter()
                workflow(steps)
                if repeat >= WARM_UP:
                    times[steps].append((time.perf_counter() - started) * 1000 / steps)
        DBOS.destroy()
    sys.stdout.write(json.dumps({str(steps): round(statistics.median(v), 3) for steps, v in times.items()}) + "\n")


if __name__ == "__main__":
    main()
