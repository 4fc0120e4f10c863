"""Who may do what (D29): one table, by the name of the operation. Admins may do everything."""

from __future__ import annotations

from cairn.services.actors import ALL_ROLES, Role

Roles = frozenset[str]

OPEN: Roles | None = None  # no sign-in needed
READ: Roles = ALL_ROLES
EDIT: Roles = frozenset({Role.EDITOR.value})
DECIDE: Roles = frozenset({Role.APPROVER.value})
SUBMIT: Roles = EDIT | DECIDE
ADMIN: Roles = frozenset({Role.ADMIN.value})

PERMISSIONS: dict[str, Roles | None] = {
    # entry
    "get_health": OPEN,
    "sign_in": OPEN,
    "get_session": READ,
    "sign_out": OPEN,
    # definitions
    "list_pipelines": READ,
    "create_pipeline": EDIT,
    "get_pipeline": READ,
    "update_pipeline": EDIT,
    "delete_pipeline": ADMIN,
    "restore_pipeline": ADMIN,
    "get_definition": READ,
    "list_revisions": READ,
    "get_revision": READ,
    "diff_revisions": READ,
    "compare_definition": READ,
    "replace_definition": EDIT,
    "revert_pipeline": EDIT,
    "validate_definition": READ,
    "get_definition_schema": READ,
    "list_templates": READ,
    "add_checkpoint": EDIT,
    "create_checkpoint": EDIT,
    "get_checkpoint": READ,
    "update_checkpoint": EDIT,
    "delete_checkpoint": EDIT,
    "reorder_checkpoints": EDIT,
    "list_scripts": READ,
    "get_script": READ,
    "put_script": EDIT,
    "delete_script": EDIT,
    # runs
    "list_pipeline_runs": READ,
    "list_runs": READ,
    "create_run": EDIT,
    "get_run": READ,
    "get_run_input": READ,
    "start_run": EDIT,
    "pause_run": EDIT,
    "resume_run": EDIT,
    "cancel_run": EDIT,
    "restart_run": EDIT,
    "retry_run": EDIT,
    "list_run_executions": READ,
    "get_lineage": READ,
    "stream_run": READ,
    "stream_changes": READ,
    # executions
    "get_execution": READ,
    "start_execution": EDIT,
    "approve_start": DECIDE,
    "approve_completion": DECIDE,
    "approve_execution": DECIDE,
    "revise_execution": DECIDE,
    "reject_execution": DECIDE,
    "submit_form": SUBMIT,
    "upload_file": SUBMIT,
    "retry_execution": EDIT,
    "cancel_execution": EDIT,
    "preview_rework": READ,
    "ask_rework": EDIT,
    "rerun_execution": EDIT,
    "list_logs": READ,
    "download_logs": READ,
    "list_messages": READ,
    "get_context": READ,
    # approvals
    "list_approvals": READ,
    "get_approval": READ,
    "decide_approval": SUBMIT,  # and, by decision, below
    # going back
    "preview_rollback": READ,
    "make_rollback": EDIT,
    "list_rollbacks": READ,
    "get_rollback": READ,
    "undo_rollback": EDIT,
    # artifacts and the trail
    "list_artifacts": READ,
    "get_artifact": READ,
    "download_artifact": READ,
    "get_artifact_content": READ,
    "list_events": READ,
    "verify_events": READ,
    # how all of it does
    "get_diagnosis": ADMIN,
    "repair": ADMIN,
}

# Filling in a form is not a decision on somebody's work.
DECISIONS: dict[str, Roles] = dict.fromkeys(
    ("approve", "revise", "reject", "refuse", "accept", "feedback", "retry", "restart", "fail"), DECIDE
) | {"answer": SUBMIT, "decline": SUBMIT}
