"""Names of folders and files in a pipeline's folder. Paths are relative to it. This module doesn't access the disk."""

from __future__ import annotations

import os
import re
import unicodedata
from datetime import UTC, datetime
from functools import lru_cache

from cairn.files.errors import UnsafePath

RUNS = "runs"
LATEST = "runs/latest"
TEMP = ".temp"
ARCHIVED = ".archived"
ERRORED = ".errored"
SYSTEM = ".pipeline_system"
LOGS = ".pipeline_system/logs"
DEFINITIONS = ".pipeline_system/definitions"
PIPELINE_FILE = ".pipeline_system/definitions/pipeline.json"
CHECKPOINTS = ".pipeline_system/definitions/checkpoints"
SCRIPTS = ".pipeline_system/definitions/scripts"

WORKSPACE = "workspace"
STAGING = "artifacts_staging"
OUTPUTS = "outputs"
RUN_INFO = "run_info.json"
ROLLBACK_METADATA = "rollback_metadata.json"
ERROR_INFO = "error_info.json"
ERROR_LOGS = "error_logs.txt"
FAILED_ARTIFACTS = "failed_artifacts"

# Folders of every pipeline, parents first.
SKELETON = (SYSTEM, DEFINITIONS, CHECKPOINTS, LOGS, RUNS, TEMP, ARCHIVED, ERRORED)

# Names of Cairn's own temporary files and folders. After a crash they can be deleted.
TEMPORARY_PREFIX = ".cairn-new-"

SLUG_LENGTH = 60
NAME_BYTES = 180  # of the 255 bytes of a file name; id, version and format need the rest
FORMAT_BYTES = 20
NUMBERED_BYTES = 240

_NOT_ALNUM = re.compile(r"[\W_]+")
_RESERVED = frozenset('/\\:*?"<>|')
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def slug(name: str) -> str:
    """Lower case; each sequence of anything but letters and digits becomes one `_`."""
    lowered = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    return _NOT_ALNUM.sub("_", lowered).strip("_")[:SLUG_LENGTH].strip("_") or "checkpoint"


@lru_cache(maxsize=1024)  # called for every artifact, mostly with the same names
def file_name(name: str) -> str:
    """An artifact's name without characters that some file system refuses."""
    normal = unicodedata.normalize("NFC", name)
    safe = "".join("_" if c in _RESERVED or unicodedata.category(c) in _INVISIBLE else c for c in normal)
    return _truncate(safe.strip(" ."), NAME_BYTES).strip(" .") or "artifact"


def run_name(run_version: int | None, run_id: str) -> str:
    """`v3`, or `test_{run_id8}` for a test run."""
    return f"test_{_short(run_id)}" if run_version is None else f"v{run_version}"


def run_folder(run_version: int | None, run_id: str) -> str:
    return f"{RUNS}/{run_name(run_version, run_id)}"


def checkpoint_folder(position: int, name: str) -> str:
    return f"checkpoint_{position}_{slug(name)}"


def pass_folder(run_folder: str, pass_number: int) -> str:
    """The folder of an earlier pass of a run."""
    return f"{run_folder}/passes/{pass_number}"


def superseded_folder(checkpoint_folder: str, execution_id: str) -> str:
    """The folder of an execution that another one replaced."""
    return f"{checkpoint_folder}/superseded/{execution_id}"


def staged_name(artifact_name: str, artifact_id: str, format: str) -> str:
    return f"{file_name(artifact_name)}_{_short(artifact_id)}.{_extension(format)}"


def permanent_name(artifact_name: str, artifact_id: str, format: str, run_version: int | None, run_id: str) -> str:
    version = run_name(run_version, run_id)
    return f"{file_name(artifact_name)}_{_short(artifact_id)}_{version}.{_extension(format)}"


def workspace_folder(execution_id: str) -> str:
    return f"{TEMP}/exec_{execution_id}"


def staging_folder(execution_id: str) -> str:
    return f"{TEMP}/exec_{execution_id}/{STAGING}"


def errored_folder(execution_id: str, at: datetime) -> str:
    return f"{ERRORED}/exec_{execution_id}_{stamp(at)}"


def rollback_folder(rollback_id: str, at: datetime) -> str:
    return f"{ARCHIVED}/rollback_{rollback_id}_{stamp(at)}"


def archived_run(run_version: int | None, run_id: str) -> str:
    """Relative to the rollback's folder."""
    return f"archived_data/{run_name(run_version, run_id)}"


def archived_execution(run_version: int | None, run_id: str, position: int, superseded: str | None = None) -> str:
    """Relative to the rollback's folder. `superseded` is the id of an execution that another one replaced."""
    folder = f"archived_data/{run_name(run_version, run_id)}_checkpoint_{position}"
    return folder if superseded is None else superseded_folder(folder, superseded)


def definition_archive(definition_version: int, at: datetime) -> str:
    return f"{ARCHIVED}/definition_v{definition_version}_{stamp(at)}"


def drift_folder(at: datetime) -> str:
    return f"{ARCHIVED}/drift_{stamp(at)}"


def deleted_pipeline(pipeline_id: str, at: datetime) -> str:
    """Relative to the root of all pipelines."""
    return f"{ARCHIVED}/{pipeline_id}_{stamp(at)}"


def stamp(at: datetime) -> str:
    """A time as part of a name."""
    return at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def numbered(name: str, number: int) -> str:
    """A name that doesn't collide with earlier ones."""
    return f"{os.fsdecode(os.fsencode(name)[:NUMBERED_BYTES])}~{number}" if number else name


def split_path(path: str) -> list[str]:
    """The components of a relative path. Raise UnsafePath if it leaves its folder."""
    steps = path.split("/")
    for step in steps:
        if step in {"", ".", ".."} or "\0" in step:
            raise UnsafePath(f"{path!r} leaves its folder")
    return steps


def checked_id(id: str) -> str:
    """Raise UnsafePath unless the id is a single, visible name."""
    if not id or id[0] == "." or "/" in id or "\0" in id:
        raise UnsafePath(f"{id!r} is not an id")
    return id


def _short(id: str) -> str:
    """The first eight hex digits."""
    return checked_id(id)[:8]


@lru_cache(maxsize=64)
def _extension(format: str) -> str:
    return _truncate(file_name(format.replace(" ", "_")), FORMAT_BYTES)


def _truncate(text: str, size: int) -> str:
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
