"""What follows a commit in this process, step by step. The commit stands whatever fails here."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from cairn.services.engine.commit import AfterCommit, Commit

log = logging.getLogger(__name__)


class AfterCommitSteps:
    """Runs the steps in the order in which they were registered. One that fails does not keep the others from it."""

    def __init__(self) -> None:
        self._steps: tuple[AfterCommit, ...] = ()

    def register(self, *steps: AfterCommit) -> None:
        self._steps += steps

    async def run(self, commits: Sequence[Commit]) -> None:
        for step in self._steps:
            try:
                await step.after_commit(commits)
            except Exception:
                log.exception("%s failed after a commit; the steps after it are run", type(step).__qualname__)
