"""One English sentence for each event, made from its type and its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

LONGEST = 200  # characters of one value: an error may bring a whole page

SENTENCES: Mapping[str, str] = {
    "pipeline_created": "The pipeline was created.",
    "pipeline_updated": "The pipeline was changed.",
    "pipeline_deleted": "The pipeline was deleted and archived.",
    "pipeline_restored": "The pipeline was restored from the archive.",
    "pipeline_reverted": "The pipeline went back to revision {to_revision}.",
    "checkpoint_added": "{name} was added.",
    "checkpoint_updated": "{name} was changed.",
    "checkpoint_removed": "{name} was removed.",
    "checkpoints_reordered": "The checkpoints were put into another order.",
    "run_created": "Run {run_version} was made.",
    "run_started": "The run was started.",
    "run_paused": "The run is paused.",
    "run_resumed": "The run goes on.",
    "run_completed": "The run is completed.",
    "run_failed": "The run has failed.",
    "run_cancelled": "The run was cancelled.",
    "run_reopened": "The run is in progress again, to {by}.",
    "run_archived": "The run was archived by a rollback to an earlier one.",
    "run_restored": "The run was put back.",
    "pause_requested": "A pause was asked for.",
    "pause_withdrawn": "The pause was withdrawn.",
    "pass_begun": "Pass {pass_number} begins: {reason}.",
    "execution_made": "The turn of {name} has come.",
    "execution_start_asked": "{name} waits for approval to start.",
    "execution_start_refused": "The start of {name} was refused.",
    "execution_ready": "{name} is ready to go on.",
    "execution_dispatched": "{name} is being carried out.",
    "execution_waiting": "{name} waits: {waiting_on}.",
    "execution_completion_asked": "The result of {name} waits for approval.",
    "execution_completed": "{name} is completed.",
    "execution_failed": "{name} has failed: {error}",
    "execution_cancelled": "{name} was cancelled.",
    "execution_archived": "{name} was archived by a rollback.",
    "execution_restored": "{name} was put back.",
    "execution_retried": "{name} is tried again, attempt {attempt_number}.",
    "execution_revised": "{name} is revised, revision {revision_iteration}.",
    "execution_revalidated": "{name} is done again, as its result was not valid.",
    "execution_interrupted": "The work on {name} was interrupted.",
    "ruling_changed": "The decision of {name} became {decision}: {reason}",
    "artifacts_created": "{name} produced {artifacts}.",
    "artifacts_promoted": "The artifacts of {name} took their permanent places.",
    "approval_asked": "{name}: an approval of kind {kind} was asked for.",
    "approval_given": "{name}: {given} of {needed} approvals were given.",
    "approval_kept": "{name}: the same content had been approved before.",
    "approval_escalated": "{name}: nobody decided in time, more people are asked.",
    "approval_approved": "{name}: the {kind} approval was given.",
    "approval_auto_approved": "{name}: the {kind} approval was given by a rule.",
    "approval_rejected": "{name}: the {kind} approval was rejected.",
    "approval_revision_requested": "{name}: a revision was asked for.",
    "approval_timeout": "{name}: nobody decided on the {kind} approval in time.",
    "approval_withdrawn": "{name}: the {kind} approval is not asked for any more.",
    "rework_asked": "{name} was sent back: {reason}",
    "rework_told": "{name} goes on: the rework that it waited for is {ended}.",
    "rollback_made": "The run was rolled back to position {target}.",
    "rollback_undone": "A rollback was undone.",
}


def describe(type: str, name: str | None, metadata: Mapping[str, Any]) -> str:
    """`name` is the checkpoint's."""
    sentence = SENTENCES.get(type)
    if sentence is None:
        sentence = type.replace("_", " ").capitalize() + "."
    elif "{" in sentence:
        sentence = sentence.format_map(_Words(name, metadata))
    # Text columns refuse what is not a character; the metadata keeps it.
    return sentence.replace("\0", "�").encode(errors="replace").decode() if not sentence.isprintable() else sentence


class _Words(dict[str, str]):
    def __init__(self, name: str | None, metadata: Mapping[str, Any]) -> None:
        super().__init__(name=name or str(metadata.get("checkpoint") or "The checkpoint"))
        self._metadata = metadata

    def __missing__(self, key: str) -> str:
        value = self._metadata.get(key)
        if key == "artifacts" and isinstance(value, list):
            return ", ".join(str(made["name"]) for made in cast("list[dict[str, Any]]", value))[:LONGEST]
        if key == "waiting_on":
            return str(value).replace("_", " ")
        return "none" if value is None else str(value)[:LONGEST]
