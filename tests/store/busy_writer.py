"""Saves runs and prints each acknowledged save, until it is killed."""

from __future__ import annotations

import sys

from cairn.core.commands import ArtifactOutput, ExecutionFinished, StartRun
from cairn.core.states import ExecutionState
from cairn.store import Database
from tests.store.samples import begin_story, make_artifact, make_document


def main(url: str) -> None:
    database = Database(url)
    number = 0
    while True:
        story = begin_story(database, make_document("a", "b", "c", "d", "e"))
        story.send(StartRun())
        while story.loaded.run.open:
            e = next(each for each in story.loaded.run.open if each.state is ExecutionState.WORKING)
            number += 1
            made = make_artifact(e.id, f"content {number} ".encode() * 200)
            output = ArtifactOutput(made.record_id, made.name, made.checksum, made.size)
            story.send(ExecutionFinished(e.id, e.dispatch, made.checksum, (output,)), artifacts=[made])
            facts = story.loaded.facts
            sys.stdout.write(f"{facts.run_id} {story.loaded.revision} {made.checksum}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
