"""Run the after-commit steps. The commit stays durable even if a step fails."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from cairn.services.engine.commit import AfterCommit, Commit

log = logging.getLogger(__name__)


class AfterCommitSteps:
    """Runs the steps in the order of their registration. A failed step doesn't stop the others."""

    def __init__(self) -> None:
        self._steps: tuple[AfterCommit, ...] = ()

    def register(self, *steps: AfterCommit) -> None:
        self._steps += steps

    async def run(self, commits: Sequence[Commit]) -> None:
        for step in self._steps:
            try:
                await step.after_commit(commits)
            except Exception:
                log.exception("%s failed after a commit; the remaining steps still run", type(step).__qualname__)
