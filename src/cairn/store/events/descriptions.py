"""One sentence for each event, built from its type and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

MAX_VALUE = 200  # characters of one value, because an error can be very long

SENTENCES: Mapping[str, str] = {
    "pipeline_created": "The pipeline was created.",
    "pipeline_updated": "The pipeline was updated.",
    "pipeline_deleted": "The pipeline was deleted and archived.",
    "pipeline_restored": "The pipeline was restored from the archive.",
    "pipeline_reverted": "The pipeline was reverted to revision {to_revision}.",
    "checkpoint_added": "{name} was added.",
    "checkpoint_updated": "{name} was updated.",
    "checkpoint_deleted": "{name} was deleted.",
    "checkpoints_reordered": "The checkpoints were reordered.",
    "run_created": "Run v{run_version} was created.",
    "run_started": "The run was started.",
    "run_paused": "The run was paused.",
    "run_resumed": "The run was resumed.",
    "run_completed": "The run was completed.",
    "run_failed": "The run failed.",
    "run_cancelled": "The run was cancelled.",
    "run_reopened": "The run was reopened.",
    "run_archived": "The run was archived by a rollback to an earlier run.",
    "run_restored": "The run was restored.",
    "pause_requested": "A pause was requested.",
    "pause_cancelled": "The pause was cancelled.",
    "budget_updated": "The budget of the run was updated.",
    "budget_warning": "Most of the budget is used. {reason}",
    "budget_exhausted": "The budget is exhausted. {reason}",
    "pass_started": "Pass {pass_number} started: {reason}.",
    "execution_created": "An execution of {name} was created.",
    "execution_awaiting_start_approval": "{name} is waiting for approval to start.",
    "execution_start_rejected": "The start of {name} was rejected.",
    "execution_ready": "{name} is ready to start.",
    "execution_dispatched": "{name} started.",
    "execution_waiting": "{name} is waiting for {waiting_on}.",
    "execution_awaiting_completion_approval": "The result of {name} is waiting for approval.",
    "execution_completed": "{name} was completed.",
    "execution_failed": "{name} failed: {error}",
    "execution_cancelled": "{name} was cancelled.",
    "execution_archived": "{name} was archived by a rollback.",
    "execution_restored": "{name} was restored.",
    "execution_retried": "{name} is being retried, attempt {attempt_number}.",
    "execution_revised": "{name} is being revised, revision {revision_iteration}.",
    "execution_validation_retried": "{name} is being retried because its result was invalid.",
    "execution_interrupted": "{name} was interrupted.",
    "pass_decision_overridden": "The decision of {name} was changed to {decision}: {reason}",
    "artifacts_created": "{name} produced {artifacts}.",
    "artifacts_promoted": "The artifacts of {name} were promoted.",
    "approval_requested": "Approval requested: {subject}.",
    "approval_vote_cast": "{received_approvals} of {required_approvals} approvals received: {subject}.",
    "approval_reused": "Approval reused: the same content was approved before ({subject}).",
    "action_done": "The approved action was executed for {subject}.",
    "action_failed": "The approved action failed for {subject}.",
    "action_unknown": "The outcome of the approved action is unknown for {subject}.",
    "action_test": "The approved action was not executed for {subject}, because this is a test run.",
    "approval_comment_added": "A comment was added to {subject}.",
    "approval_reminder_due": "Half of the time to decide on {subject} has passed.",
    "approval_assigned": "The approval was assigned to other people: {subject}.",
    "approval_escalated": "Approval escalated: nobody decided on {subject} in time.",
    "approval_approved": "Approval decided for {subject}: {decision}.",
    "approval_auto_approved": "A rule approved {subject}.",
    "approval_rejected": "Approval rejected: {subject}.",
    "approval_revision_requested": "{name} was sent back for revision.",
    "approval_timeout": "Approval timed out: {subject}.",
    "approval_withdrawn": "Approval withdrawn: {subject}.",
    "auto_approval_reviewed": "An automatic approval of {name} was reviewed.",
    "rework_requested": "{name} was sent back for rework: {reason}",
    "rework_ended": "{name} continues: the rework it requested has ended.",
    "rollback_initiated": "The run was rolled back to checkpoint {checkpoint_number}.",
    "rollback_undone": "A rollback was undone.",
    "channel_created": "The channel {channel} was created.",
    "channel_updated": "The channel {channel} was updated.",
    "channel_deleted": "The channel {channel} was deleted.",
    "failed_workspaces_deleted": "Workspaces of failed executions were deleted at the end of their retention period.",
    "test_run_deleted": "A test run was deleted at the end of its retention period.",
    "archive_deleted": "An archive was deleted at the end of its retention period.",
    "user_created": "The user {user} was created.",
    "user_updated": "The user {user} was updated: {changed_fields}.",
    "user_groups_updated": "The groups of {user} were updated.",
    "user_deleted": "The user {user} was deleted.",
    "user_restored": "The user {user} was restored.",
    "password_changed": "The password of {user} was changed.",
    "identity_linked": "{user} can sign in with {provider}.",
    "signed_in": "{user} signed in ({signed_in_with}).",
    "signed_out": "{user} signed out.",
    "sign_in_blocked": "Sign-in was blocked after too many failed attempts from one address.",
    "sessions_ended": "{count} sessions of {user} were ended.",
    "group_created": "The group {group} was created.",
    "group_updated": "The group {group} was updated.",
    "group_members_updated": "The members of {group} were updated.",
    "group_deleted": "The group {group} was deleted.",
    "invitation_created": "{user} was invited.",
    "invitation_accepted": "{user} accepted the invitation.",
    "invitation_revoked": "The invitation of {user} was revoked.",
    "token_created": "A token of {user} was created: {token}.",
    "token_revoked": "A token of {user} was revoked: {token}.",
    "delegation_created": "{to_user} was delegated to decide for {from_user}.",
    "delegation_ended": "The delegation from {from_user} to {to_user} ended.",
    "secret_created": "The secret {secret} was stored.",
    "secret_updated": "The secret {secret} was replaced.",
    "secret_deleted": "The secret {secret} was deleted.",
    "secrets_rotated": "All {count} secrets were re-encrypted.",
    "library_agent_saved": "The agent {agent} was saved in the library, revision {revision}.",
    "library_agent_deleted": "The agent {agent} was deleted.",
    "rules_updated": "The rules were updated to version {revision}.",
    "emergency_stop_enabled": "Automatic approvals were stopped: {reason}",
    "emergency_stop_reason_updated": "The reason of the emergency stop was updated: {reason}",
    "emergency_stop_lifted": "The emergency stop was lifted.",
    "drift_repaired": "Drift repaired: {rewritten} files were rewritten and {moved} moved aside.",
}

# Events whose sentence depends on one value of the metadata.
CHOICES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "run_created": ("run_version", {"None": "A test run was created."}),
    "run_reopened": (
        "transition",
        {
            "retry": "The run was reopened by a retry.",
            "roll_back": "The run was reopened by a rollback.",
            "restart": "The run was reopened by a restart.",
            "rework": "The run was reopened by rework.",
            "dismiss": "The run was reopened after a failed execution was dismissed.",
        },
    ),
    "execution_waiting": (
        "waiting_on",
        {
            "human_form": "{name} is waiting for its form.",
            "script_input": "{name} is waiting for input.",
            "action_approval": "{name} is waiting for approval of an action.",
            "validation_feedback": "{name} is waiting for review of its invalid result.",
            "question": "{name} is waiting for an answer.",
            "escalation": "{name} is waiting for a decision on how to continue.",
            "rework": "{name} is waiting for rework.",
            "retry_delay": "{name} is waiting before the next retry.",
            "external_blocker": "{name} is blocked by something outside Cairn.",
        },
    ),
    "approval_requested": (
        "kind",
        {
            "start": "Approval requested: start of {name}.",
            "completion": "Approval requested: result of {name}.",
            "action": "Approval requested: action of {name}.",
            "validation": "Review requested: invalid result of {name}.",
            "escalation": "Decision requested: how {name} should continue.",
            "input": "Form requested: {name}.",
        },
    ),
    "approval_approved": (
        "kind",
        {
            "start": "The start of {name} was approved.",
            "completion": "The result of {name} was approved.",
            "action": "An action of {name} was approved.",
            "validation": "The invalid result of {name} was accepted.",
            "input": "The form of {name} was submitted.",
        },
    ),
    "approval_rejected": (
        "kind",
        {
            "start": "The start of {name} was rejected.",
            "completion": "The result of {name} was rejected.",
            "action": "An action of {name} was rejected.",
            "validation": "The result of {name} was rejected.",
            "escalation": "A user decided to fail {name}.",
            "input": "The form of {name} was declined.",
        },
    ),
    "auto_approval_reviewed": (
        "agrees",
        {
            "True": "A reviewer agreed with an automatic approval of {name}.",
            "False": "A reviewer disagreed with an automatic approval of {name}.",
        },
    ),
    "rework_requested": ("reason", {"": "{name} was sent back for rework."}),
    "rework_ended": (
        "status",
        {
            "completed": "{name} continues: the rework was completed.",
            "failed": "{name} continues: the rework failed.",
            "cancelled": "{name} continues: the rework was cancelled.",
            "refused": "{name} continues: the rework was refused.",
            "archived": "{name} continues: the rework was rolled back.",
        },
    ),
    "sign_in_blocked": (
        "limit",
        {"name": "Sign-in was blocked after too many failed attempts with one name."},
    ),
    "sessions_ended": ("count", {"1": "A session of {user} was ended."}),
    "secrets_rotated": ("count", {"1": "The secret was re-encrypted."}),
    "rollback_initiated": ("target", {"-1": "The run was rolled back to its beginning."}),
}

# What an approval concerns, by its kind.
SUBJECTS: Mapping[str, str] = {
    "start": "the start of {name}",
    "completion": "the result of {name}",
    "action": "an action of {name}",
    "validation": "the result of {name}",
    "escalation": "how {name} should continue",
    "input": "the form of {name}",
}


def describe(type: str, name: str | None, metadata: Mapping[str, Any]) -> str:
    """Return the sentence for an event. `name` is the checkpoint's."""
    sentence = _chosen(type, metadata) or SENTENCES.get(type)
    if sentence is None:
        sentence = type.replace("_", " ").capitalize() + "."
    elif "{" in sentence:
        sentence = sentence.format_map(_SentenceFields(name, metadata))
    # Text columns reject NUL and unpaired surrogates. The metadata keeps the original.
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
        if key == "checkpoint_number":
            return str(self._metadata.get("target", -1) + 1)
        if key in ("rewritten", "moved"):
            counts = cast("dict[str, int]", self._metadata.get("counts") or {})
            return str(counts.get("rewritten" if key == "rewritten" else "moved_aside", 0))
        if key == "artifacts" and isinstance(value, list):
            return ", ".join(str(artifact["name"]) for artifact in cast("list[dict[str, Any]]", value))[:MAX_VALUE]
        if key == "changed_fields" and isinstance(value, list):
            return ", ".join(str(field) for field in cast("list[Any]", value)).replace("_", " ")[:MAX_VALUE]
        if key == "waiting_on":
            return str(value).replace("_", " ")
        return "none" if value is None else str(value)[:MAX_VALUE]
