"""Who may do what (D29): one table, by the name of the operation. Admins may do everything.

A token that is narrowed to some scopes may do what both its user's roles and its scopes allow.
"""

from __future__ import annotations

from cairn.services.actors import ALL_ROLES, ALL_SCOPES, Permission, Role, Scope
from cairn.services.approvals.eligibility import DECIDE, SUBMIT

_EDITORS = frozenset({Role.EDITOR.value})

OPEN: Permission | None = None  # no sign-in needed
READ = Permission(ALL_ROLES, ALL_SCOPES)
DEFINE = Permission(_EDITORS, frozenset({Scope.DEFINE.value}))
RUN = Permission(_EDITORS, frozenset({Scope.RUN.value}))
OWN = Permission(ALL_ROLES, frozenset({Scope.ADMIN.value}))  # what is one's own; admins see to others' too
ADMIN = Permission(frozenset({Role.ADMIN.value}), frozenset({Scope.ADMIN.value}))

PERMISSIONS: dict[str, Permission | None] = {
    # entry
    "get_health": OPEN,
    "sign_in": OPEN,
    "get_session": READ,
    "sign_out": OPEN,
    "change_password": OWN,
    "get_sign_in_ways": OPEN,
    "begin_sign_in": OPEN,
    "finish_sign_in": OPEN,
    # one's own
    "update_me": OWN,
    "list_own_tokens": OWN,
    "create_own_token": OWN,
    "revoke_own_token": OWN,
    # people
    "list_people": READ,
    "list_users": ADMIN,
    "create_user": ADMIN,
    "get_user": ADMIN,
    "update_user": ADMIN,
    "remove_user": ADMIN,
    "restore_user": ADMIN,
    "list_groups": READ,
    "create_group": ADMIN,
    "get_group": READ,
    "update_group": ADMIN,
    "remove_group": ADMIN,
    "list_delegations": READ,
    "create_delegation": OWN,
    "get_delegation": READ,
    "end_delegation": OWN,
    # what lets them in
    "list_invitations": ADMIN,
    "create_invitation": ADMIN,
    "revoke_invitation": ADMIN,
    "preview_invitation": OPEN,
    "accept_invitation": OPEN,
    "list_tokens": ADMIN,
    "create_token": ADMIN,
    "revoke_token": ADMIN,
    "list_sessions": OWN,
    "end_session": OWN,
    "end_sessions": OWN,
    # secrets
    "list_secrets": ADMIN,
    "put_secret": ADMIN,
    "remove_secret": ADMIN,
    "rotate_secrets": ADMIN,
    # definitions
    "list_pipelines": READ,
    "create_pipeline": DEFINE,
    "get_pipeline": READ,
    "update_pipeline": DEFINE,
    "delete_pipeline": ADMIN,
    "restore_pipeline": ADMIN,
    "get_definition": READ,
    "list_revisions": READ,
    "get_revision": READ,
    "diff_revisions": READ,
    "compare_definition": READ,
    "replace_definition": DEFINE,
    "revert_pipeline": DEFINE,
    "validate_definition": READ,
    "get_definition_schema": READ,
    "list_templates": READ,
    "list_agents": READ,
    "get_agent_schema": READ,
    "get_agent": READ,
    "list_agent_revisions": READ,
    "put_agent": DEFINE,
    "remove_agent": DEFINE,
    "add_checkpoint": DEFINE,
    "create_checkpoint": DEFINE,
    "get_checkpoint": READ,
    "update_checkpoint": DEFINE,
    "delete_checkpoint": DEFINE,
    "reorder_checkpoints": DEFINE,
    "list_scripts": READ,
    "get_script": READ,
    "put_script": DEFINE,
    "delete_script": DEFINE,
    # runs
    "list_pipeline_runs": READ,
    "list_runs": READ,
    "create_run": RUN,
    "get_run": READ,
    "get_run_input": READ,
    "start_run": RUN,
    "pause_run": RUN,
    "resume_run": RUN,
    "cancel_run": RUN,
    "restart_run": RUN,
    "retry_run": RUN,
    "list_run_executions": READ,
    "get_lineage": READ,
    "get_run_costs": READ,
    "get_pipeline_costs": READ,
    "get_costs": READ,
    "set_budget": RUN,
    "stream_run": READ,
    "stream_changes": READ,
    # executions
    "get_execution": READ,
    "start_execution": RUN,
    "approve_start": DECIDE,
    "approve_completion": DECIDE,
    "approve_execution": DECIDE,
    "revise_execution": DECIDE,
    "reject_execution": DECIDE,
    "submit_form": SUBMIT,
    "upload_file": SUBMIT,
    "retry_execution": RUN,
    "cancel_execution": RUN,
    "preview_rework": READ,
    "ask_rework": RUN,
    "rerun_execution": RUN,
    "list_logs": READ,
    "download_logs": READ,
    "list_messages": READ,  # what a definition does not show, only admins see
    "get_conversation": READ,
    "get_context": READ,
    # approvals
    "list_approvals": READ,
    "get_approval": READ,
    "decide_approval": SUBMIT,  # and, by decision, below
    "decide_batch": DECIDE,
    "preview_modification": READ,
    "assign_approval": DECIDE,
    "add_comment": SUBMIT,
    "list_learning_cases": READ,
    "get_modification_rates": READ,
    # models
    "list_models": READ,
    "test_model": DEFINE,
    # rules
    "get_rules": READ,
    "put_rules": ADMIN,
    "list_rule_versions": READ,
    "get_rule_version": READ,
    "diff_rule_versions": READ,
    "get_rules_schema": READ,
    "check_rules": READ,
    "get_pipeline_rules": READ,
    "put_pipeline_rules": ADMIN,
    "delete_pipeline_rules": ADMIN,
    "list_pipeline_rule_versions": READ,
    "get_pipeline_rule_version": READ,
    "diff_pipeline_rule_versions": READ,
    "explain_approval": READ,
    "backtest_rules": ADMIN,
    "get_autonomy": READ,
    "list_audits": READ,
    "review_audit": DECIDE,
    "get_emergency_stop": READ,
    "set_emergency_stop": ADMIN,
    "list_emergency_stops": READ,
    # notifications
    "list_channels": ADMIN,
    "create_channel": ADMIN,
    "get_channel": ADMIN,
    "update_channel": ADMIN,
    "delete_channel": ADMIN,
    "test_channel": ADMIN,
    "list_deliveries": ADMIN,
    "get_delivery": ADMIN,
    "get_preferences": READ,
    "set_preferences": OWN,
    # going back
    "preview_rollback": READ,
    "make_rollback": RUN,
    "list_rollbacks": READ,
    "get_rollback": READ,
    "undo_rollback": RUN,
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

DECISIONS: dict[str, Permission] = dict.fromkeys(
    ("approve", "revise", "reject", "refuse", "accept", "feedback", "retry", "restart", "fail"), DECIDE
) | {"answer": SUBMIT, "decline": SUBMIT}
