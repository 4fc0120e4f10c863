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
    "run_created": "Version {run_version} was made.",
    "run_started": "The run was started.",
    "run_paused": "The run is paused.",
    "run_resumed": "The run goes on.",
    "run_completed": "The run is completed.",
    "run_failed": "The run has failed.",
    "run_cancelled": "The run was cancelled.",
    "run_reopened": "The run goes on again.",
    "run_archived": "The run was archived by a rollback to an earlier one.",
    "run_restored": "The run was put back.",
    "pause_requested": "A pause was asked for.",
    "pause_withdrawn": "The pause was withdrawn.",
    "budget_changed": "The budget of the run was changed.",
    "budget_nearly_spent": "Most of the budget is used. {reason}",
    "budget_spent": "The budget is spent. {reason}",
    "pass_begun": "Pass {pass_number} begins: {reason}.",
    "execution_made": "The turn of {name} has come.",
    "execution_start_asked": "{name} waits for approval to start.",
    "execution_start_refused": "The start of {name} was refused.",
    "execution_ready": "{name} is ready to go on.",
    "execution_dispatched": "{name} is being carried out.",
    "execution_waiting": "{name} waits for {waiting_on}.",
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
    "approval_asked": "People are asked about {subject}.",
    "approval_given": "{given} of {needed} approvals of {subject} are given.",
    "approval_kept": "Nobody is asked about {subject}: the same content was approved before.",
    "action_done": "The approved action was carried out for {subject}.",
    "action_failed": "The approved action could not be carried out for {subject}.",
    "action_unknown": "It is not known whether the approved action was carried out for {subject}.",
    "action_test": "A test run does not carry out the approved action for {subject}.",
    "approval_commented": "Somebody commented on {subject}.",
    "approval_reminded": "Half of the time to decide on {subject} is over.",
    "approval_assigned": "The decision on {subject} was handed over.",
    "approval_escalated": "Nobody decided on {subject} in time: more people are asked.",
    "approval_approved": "People decided on {subject}: {decision}.",
    "approval_auto_approved": "A rule approved {subject}.",
    "approval_rejected": "People decided against {subject}.",
    "approval_revision_requested": "{name} was sent back for a revision.",
    "approval_timeout": "Nobody decided on {subject} in time.",
    "approval_withdrawn": "Nobody has to decide on {subject} any more.",
    "approval_reviewed": "Somebody looked at an automatic approval of {name} afterwards.",
    "rework_asked": "{name} was sent back to be done again: {reason}",
    "rework_told": "{name} goes on: the work that was sent back has ended.",
    "rollback_made": "The run was rolled back to checkpoint {place}.",
    "rollback_undone": "A rollback was undone.",
    "channel_created": "The channel {channel} was set up.",
    "channel_changed": "The channel {channel} was changed.",
    "channel_removed": "The channel {channel} was removed.",
    "archive_discarded": "What a rollback had archived was deleted: it has been kept for its time.",
    "user_created": "{user} was made a user.",
    "user_changed": "{user} was changed: {changed}.",
    "user_groups_changed": "{user} is in other groups.",
    "user_removed": "{user} was removed.",
    "user_restored": "{user} is a user again.",
    "password_changed": "{user} has a new password.",
    "identity_linked": "{user} can sign in with {provider}.",
    "signed_in": "{user} signed in ({signed_in_with}).",
    "signed_out": "{user} signed out.",
    "sign_in_refused": "Signing in was refused: too many attempts from one address had failed.",
    "sessions_ended": "{count} sessions of {user} were ended.",
    "group_created": "The group {group} was made.",
    "group_changed": "The group {group} is described otherwise.",
    "group_members_changed": "The group {group} has other members.",
    "group_removed": "The group {group} was removed.",
    "invitation_created": "{user} was invited.",
    "invitation_accepted": "{user} has accepted the invitation.",
    "invitation_revoked": "The invitation of {user} was taken back.",
    "token_created": "A token of {user} was made: {token}.",
    "token_revoked": "A token of {user} was revoked: {token}.",
    "delegation_created": "{to_user} decides for {from_user} for a while.",
    "delegation_ended": "{to_user} no longer decides for {from_user}.",
    "secret_created": "The secret {secret} was stored.",
    "secret_changed": "The secret {secret} was replaced.",
    "secret_removed": "The secret {secret} was removed.",
    "secrets_rotated": "All {count} secrets were encrypted anew.",
    "library_agent_saved": "The agent {agent} was saved in the library, revision {revision}.",
    "library_agent_removed": "The agent {agent} was removed from the library.",
    "rules_saved": "The rules were changed, revision {revision}.",
    "emergency_stop_set": "Every automatic approval was stopped: {reason}",
    "emergency_stop_explained": "Automatic approvals are stopped for another reason: {reason}",
    "emergency_stop_lifted": "Automatic approvals go on.",
    "drift_repaired": "The folder did not match the records: {written} files were written again, {moved} moved aside.",
}

# Where one word of the metadata makes another sentence: by that word.
CHOICES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "run_created": ("run_version", {"None": "A test run was made."}),
    "run_reopened": (
        "by",
        {
            "retry": "The run goes on again, with a retry.",
            "roll back": "The run goes on again, from where it was rolled back to.",
            "restart": "The run goes on again, with the next pass.",
            "rework": "The run goes on again, as work was sent back.",
            "dismiss": "The run goes on again, without what had failed.",
        },
    ),
    "execution_waiting": (
        "waiting_on",
        {
            "human_form": "{name} waits for its form to be filled in.",
            "script_input": "{name} waits for its questions to be answered.",
            "action_approval": "{name} waits for an action to be approved.",
            "validation_feedback": "{name} waits for somebody to check its result.",
            "question": "{name} waits for an answer.",
            "escalation": "{name} waits for a decision on how it goes on.",
            "rework": "{name} waits for earlier work to be done again.",
            "retry_delay": "{name} waits a moment before it is tried again.",
            "external_blocker": "{name} waits for something outside that stands in its way.",
        },
    ),
    "approval_asked": (
        "kind",
        {
            "start": "People are asked whether {name} may start.",
            "completion": "People are asked to approve the result of {name}.",
            "action": "People are asked to approve an action of {name}.",
            "validation": "People are asked to check the result of {name}.",
            "escalation": "People are asked how {name} goes on.",
            "input": "People are asked to fill in the form of {name}.",
        },
    ),
    "approval_approved": (
        "kind",
        {
            "start": "The start of {name} was approved.",
            "completion": "The result of {name} was approved.",
            "action": "An action of {name} was approved.",
            "validation": "The result of {name} was accepted as it is.",
            "input": "The form of {name} was filled in.",
        },
    ),
    "approval_rejected": (
        "kind",
        {
            "start": "The start of {name} was not approved.",
            "completion": "The result of {name} was rejected.",
            "action": "An action of {name} was rejected.",
            "validation": "The result of {name} was rejected.",
            "escalation": "It was decided that {name} fails.",
            "input": "Filling in the form of {name} was declined.",
        },
    ),
    "approval_reviewed": (
        "agrees",
        {
            "True": "Somebody agrees with an automatic approval of {name}, afterwards.",
            "False": "Somebody disagrees with an automatic approval of {name}, afterwards.",
        },
    ),
    "rework_told": (
        "ended",
        {
            "completed": "{name} goes on: the work that was sent back is done.",
            "failed": "{name} goes on: the work that was sent back has failed.",
            "cancelled": "{name} goes on: the work that was sent back was cancelled.",
            "refused": "{name} goes on: sending the work back was refused.",
            "archived": "{name} goes on: the work that was sent back was rolled back.",
        },
    ),
    "sign_in_refused": (
        "limit",
        {"name": "Signing in was refused: too many attempts with one name had failed."},
    ),
    "rollback_made": ("target", {"-1": "The run was rolled back to its very beginning."}),
}

# What an approval is about, by its kind.
SUBJECTS: Mapping[str, str] = {
    "start": "the start of {name}",
    "completion": "the result of {name}",
    "action": "an action of {name}",
    "validation": "the result of {name}",
    "escalation": "how {name} goes on",
    "input": "the form of {name}",
}


def describe(type: str, name: str | None, metadata: Mapping[str, Any]) -> str:
    """`name` is the checkpoint's."""
    sentence = _chosen(type, metadata) or SENTENCES.get(type)
    if sentence is None:
        sentence = type.replace("_", " ").capitalize() + "."
    elif "{" in sentence:
        sentence = sentence.format_map(_SentenceFields(name, metadata))
    # Text columns refuse what is not a character; the metadata keeps it.
    return sentence.replace("\0", "�").encode(errors="replace").decode() if not sentence.isprintable() else sentence


def _chosen(type: str, metadata: Mapping[str, Any]) -> str | None:
    choice = CHOICES.get(type)
    return choice[1].get(str(metadata.get(choice[0]))) if choice is not None and metadata else None


class _SentenceFields(dict[str, str]):
    def __init__(self, name: str | None, metadata: Mapping[str, Any]) -> None:
        super().__init__(name=name or str(metadata.get("checkpoint") or "The checkpoint"))
        self._metadata = metadata

    def __missing__(self, key: str) -> str:
        value = self._metadata.get(key)
        if key == "subject":
            return SUBJECTS.get(str(self._metadata.get("kind")), "{name}").format(name=self["name"])
        if key == "place":
            return str(self._metadata.get("target", -1) + 1)
        if key in ("written", "moved"):
            counts = cast("dict[str, int]", self._metadata.get("counts") or {})
            return str(counts.get("written" if key == "written" else "moved_aside", 0))
        if key == "artifacts" and isinstance(value, list):
            return ", ".join(str(made["name"]) for made in cast("list[dict[str, Any]]", value))[:LONGEST]
        if key == "changed" and isinstance(value, list):
            return ", ".join(str(field) for field in cast("list[Any]", value)).replace("_", " ")[:LONGEST]
        if key == "waiting_on":
            return str(value).replace("_", " ")
        return "none" if value is None else str(value)[:LONGEST]
