"""Save runs and print each acknowledged save, until the process is killed."""

from __future__ import annotations

import sys

from cairn.core.commands import ArtifactOutput, ExecutionFinished, StartRun
from cairn.core.states import ExecutionState
from cairn.store import Database
from tests.store.samples import create_run, make_artifact, make_document


def main(url: str) -> None:
    database = Database(url)
    number = 0
    while True:
        harness = create_run(database, make_document("a", "b", "c", "d", "e"))
        harness.send(StartRun())
        while harness.loaded.run.open:
            e = next(each for each in harness.loaded.run.open if each.state is ExecutionState.WORKING)
            number += 1
            artifact = make_artifact(e.id, f"content {number} ".encode() * 200)
            output = ArtifactOutput(artifact.record_id, artifact.name, artifact.checksum, artifact.size)
            harness.send(ExecutionFinished(e.id, e.dispatch, artifact.checksum, (output,)), artifacts=[artifact])
            facts = harness.loaded.facts
            sys.stdout.write(f"{facts.run_id} {harness.loaded.revision} {artifact.checksum}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
