"""The same lengths with DBOS alone, as it comes: workflows whose steps do nothing and store their result.

What it takes tells how fast the machine is today; Cairn stores each checkpoint's files, trail and approvals besides.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time

from bench.lengths import ROUNDS, SIZES, WARM


async def alone() -> dict[str, float]:
    """Milliseconds per step by length, in a process of its own: there is one DBOS in each."""
    command = [sys.executable, "-m", "bench.alone"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    told, _ = await process.communicate()
    assert process.returncode == 0, "DBOS alone could not be measured"
    return json.loads(told.splitlines()[-1])


def main() -> None:
    from dbos import DBOS

    @DBOS.step()
    def step(number: int) -> int:
        return number + 1

    @DBOS.workflow()
    def steps(many: int) -> int:
        number = 0
        for _ in range(many):
            number = step(number)
        return number

    with tempfile.TemporaryDirectory(prefix="cairn-alone-") as folder:
        DBOS(
            config={"name": "alone", "system_database_url": f"sqlite:///{folder}/dbos.db", "console_log_level": "ERROR"}
        )
        DBOS.launch()
        taken: dict[int, list[float]] = {many: [] for many in SIZES}
        for turn in range(WARM + ROUNDS):
            for many in SIZES:
                begun = time.perf_counter()
                steps(many)
                if turn >= WARM:
                    taken[many].append((time.perf_counter() - begun) * 1000 / many)
        DBOS.destroy()
    sys.stdout.write(json.dumps({str(many): round(statistics.median(v), 3) for many, v in taken.items()}) + "\n")


if __name__ == "__main__":
    main()
