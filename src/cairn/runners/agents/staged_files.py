"""Stage the files that agents have written to artifacts_staging."""

from __future__ import annotations

from cairn.ports import WorkOrder
from cairn.runners.agents.result_formats import STAGING
from cairn.runners.agents.toolbox import ToolError
from cairn.runners.agents.tools.jail import Jail
from cairn.runners.expected_artifacts import DeclaredArtifact, ExpectedArtifacts
from cairn.runners.limits import RunnerLimits, megabytes
from cairn.runners.staging import Staging

WORKSPACE = "workspace"
ID_CHARACTERS = 8  # of an artifact id in a file name


def open_jail(work: WorkOrder, expected: ExpectedArtifacts) -> Jail:
    """A jail with the execution's two folders. A declared artifact's path without a folder means staging."""
    folders = {WORKSPACE: work.workspace, STAGING: work.workspace.parent / STAGING}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    return Jail(folders, {artifact.file: STAGING for artifact in expected.artifacts.values()})


def restore_names(jail: Jail, expected: ExpectedArtifacts) -> None:
    """Give files from an earlier attempt their declared names, so that an agent can continue with them.

    Files that wait for approval have the artifact id in their names.
    """
    names = {entry.path.partition("/")[2] for entry in jail.entries(STAGING) if entry.is_file}
    for name in names:
        declared = _declared_as(name, expected)
        if declared is None or name == declared.file:
            continue
        if declared.file in names:
            jail.remove(f"{STAGING}/{name}")
        else:
            jail.rename(STAGING, name, declared.file)


def _declared_as(name: str, expected: ExpectedArtifacts) -> DeclaredArtifact | None:
    """The artifact whose id is in the file name."""
    for artifact in expected.artifacts.values():
        if name.endswith(f"_{artifact.id[:ID_CHARACTERS]}.{artifact.format}"):
            return artifact
    return None


def stage_files(jail: Jail, staging: Staging, limits: RunnerLimits) -> None:
    """Stage every file in artifacts_staging. A file that can't be staged becomes a mismatch."""
    for entry in jail.entries(STAGING):
        if entry.is_folder:
            continue
        name = entry.path.partition("/")[2]
        if not entry.is_file:
            staging.reject(name, "it is a link or a special file")
        elif entry.size > limits.max_file_bytes:
            limit = megabytes(limits.max_file_bytes)
            staging.reject(name, f"it is too large: {megabytes(entry.size)}. The limit is {limit}")
        else:
            try:
                staging.stage(name, jail.read(entry.path, limits.max_file_bytes))
            except ToolError as error:
                staging.reject(name, str(error))
