"""What agents have written to staging, as artifacts."""

from __future__ import annotations

from cairn.ports import WorkOrder
from cairn.runners.agents.result_formats import STAGING
from cairn.runners.agents.toolbox import ToolError
from cairn.runners.agents.tools.jail import Jail
from cairn.runners.expected_artifacts import DeclaredArtifact, ExpectedArtifacts
from cairn.runners.limits import RunnerLimits, megabytes
from cairn.runners.staging import Staging

WORKSPACE = "workspace"
SHORT = 8  # characters of an id in the name of a file


def open_jail(work: WorkOrder, expected: ExpectedArtifacts) -> Jail:
    """The two folders of an execution. A declared artifact that is named without a folder goes to staging."""
    rooms = {WORKSPACE: work.workspace, STAGING: work.workspace.parent / STAGING}
    for room in rooms.values():
        room.mkdir(parents=True, exist_ok=True)
    return Jail(rooms, {one.file: STAGING for one in expected.artifacts.values()})


def give_back_names(jail: Jail, expected: ExpectedArtifacts) -> None:
    """What lies there from before is called as it is declared, so that an agent can go on with it.

    In between it is called as a file that waits for approval, by its id.
    """
    there = {entry.path.partition("/")[2] for entry in jail.entries(STAGING) if entry.is_file}
    for name in there:
        declared = _waiting_as(name, expected)
        if declared is None or name == declared.file:
            continue
        if declared.file in there:
            jail.remove(f"{STAGING}/{name}")
        else:
            jail.rename(STAGING, name, declared.file)


def _waiting_as(name: str, expected: ExpectedArtifacts) -> DeclaredArtifact | None:
    for one in expected.artifacts.values():
        if name.endswith(f"_{one.id[:SHORT]}.{one.format}"):
            return one
    return None


def collect(jail: Jail, staging: Staging, limits: RunnerLimits) -> None:
    """Every file in staging is put forward; what cannot be is a mismatch."""
    for entry in jail.entries(STAGING):
        if entry.is_folder:
            continue
        name = entry.path.partition("/")[2]
        if not entry.is_file:
            staging.refuse(name, "it is a link or no plain file")
        elif entry.size > limits.max_file_bytes:
            most = megabytes(limits.max_file_bytes)
            staging.refuse(name, f"it has {megabytes(entry.size)}; at most {most} are taken")
        else:
            try:
                staging.put(name, jail.read(entry.path, limits.max_file_bytes))
            except ToolError as refusal:
                staging.refuse(name, str(refusal))
