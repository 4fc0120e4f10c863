"""What each operation is sent and answers, by its name."""

from __future__ import annotations

from typing import Any, TypeVar

from cairn.api.examples import actions, costs, people, reworks, rules
from cairn.api.examples import story as s
from cairn.core.states import ApprovalKind, ExecutionStatus
from cairn.services.approvals.views import ApprovalPage
from cairn.services.artifacts.views import ArtifactPage, Upload
from cairn.services.doctor.views import HealthCheck, HealthReport
from cairn.services.events.views import ChainVerification, Event, EventPage, LogLine, LogPage
from cairn.services.identity.session_views import DriftStatus, Health
from cairn.services.pipelines.script_views import RemovedScript, SavedScript, Script, ScriptPage
from cairn.services.pipelines.views import (
    DefinitionChange,
    DefinitionDiff,
    DefinitionFinding,
    DefinitionValidation,
    DeletedPipeline,
    PipelinePage,
    Revision,
    RevisionDetail,
    RevisionPage,
    Template,
    TemplateCheckpoint,
    TemplatePage,
)
from cairn.services.rollbacks.views import (
    ArchivedArtifact,
    DeletedExecution,
    ResumePoint,
    Rollback,
    RollbackPage,
    RollbackPreview,
    RolledBackItems,
    UnaffectedItems,
    WithdrawnApproval,
)
from cairn.services.runs.execution_views import Context, ContextBlock, ExecutionPage
from cairn.services.runs.views import RunPage
from cairn.services.view import View

P = TypeVar("P", bound=View)


def _page(kind: type[P], *items: View) -> P:
    return kind.model_validate({"items": items, "next_cursor": None})


_SCRIPT = Script(path="reports/monthly.py", checksum=s.DIGEST, size_bytes=32, used_by=["report"])
_ROLLBACK: dict[str, Any] = {
    "rollback_type": "checkpoint_level",
    "source_run_id": s.RUN_ID,
    "target_checkpoint_position": -1,
    "user_reason": "The market has changed",
}
_ITEMS = RolledBackItems(
    deleted_runs=[],
    deleted_checkpoint_executions=[
        DeletedExecution(
            execution_id=s.EXECUTION_ID,
            checkpoint_id=s.CHECKPOINT_ID,
            checkpoint_name="Business Goals",
            checkpoint_position=0,
            status=ExecutionStatus.WAITING_APPROVAL_TO_COMPLETE,
        )
    ],
    archived_artifacts=[
        ArchivedArtifact(
            artifact_id=s.name("artifact"),
            artifact_record_id=s.RECORD_ID,
            artifact_name="goals",
            original_path=s.ARTIFACT.file_path,
            archived_path="archived_data/v2_checkpoint_0/goals.json",
            size_bytes=41,
        )
    ],
)
_FACTS: dict[str, Any] = {
    "rollback_type": "checkpoint_level",
    "source_run_id": s.RUN_ID,
    "source_run_version": 2,
    "target_run_id": s.RUN_ID,
    "target_run_version": 2,
    "target_checkpoint_id": None,
    "target_checkpoint_position": -1,
    "rolled_back_items": _ITEMS,
    "user_reason": "The market has changed",
    "warnings": [],
}
_MADE = Rollback(
    **_FACTS,
    rollback_id=s.ROLLBACK_ID,
    archive_location=f".archived/rollback_{s.ROLLBACK_ID}_20260302T101500Z/",
    triggered_by="user_request",
    created_at=s.at(45),
    created_by="admin",
    undone_at=None,
    can_undo=True,
)
_PREVIEW = RollbackPreview(
    **_FACTS,
    kept=UnaffectedItems(checkpoints=0, artifacts=0),
    stopped=[],
    withdrawn_approvals=[
        WithdrawnApproval(approval_id=s.APPROVAL_ID, kind=ApprovalKind.COMPLETION, checkpoint_name="Business Goals")
    ],
    size_bytes=41,
    then=ResumePoint(checkpoint_name="Business Goals", begins="at once"),
)
_REVISION = Revision(revision=1, pipeline_definition_version=1, author="admin", created_at=s.at(-60), comment="created")
_EVENT = Event(
    event_id=s.name("event"),
    event_type="run_started",
    pipeline_id=s.PIPELINE_ID,
    run_id=s.RUN_ID,
    execution_id=None,
    checkpoint_id=None,
    approval_id=None,
    rollback_id=None,
    timestamp=s.at(0),
    actor="admin",
    description="The run was started.",
    metadata={},
    seq=1,
    hash=s.DIGEST,
)
_LOG = LogLine(log_id=40, execution_id=s.EXECUTION_ID, timestamp=s.at(12), level="info", message="Form submitted")
_CONTEXT = Context(
    stored=False,
    content_format="markdown",
    input={"market": "Europe"},
    blocks=[
        ContextBlock(
            kind="previous_version",
            heading="PREVIOUS VERSION: Checkpoint 1 from v1",
            checkpoint_name="Business Goals",
            run_version=1,
            artifact_name="goals",
            file_path="runs/v1/checkpoint_0_business_goals/outputs/goals_5d0a7e31_v1.json",
            content='{"goals": "Grow"}',
            size_bytes=17,
        )
    ],
    system_prompt="",
    task_prompt="What should be true in a year?",
    text='=== PREVIOUS VERSION: Checkpoint 1 from v1 ===\n{"goals": "Grow"}',
    size_characters=64,
)
_STREAM = f"id: e1.l0.m0\nevent: event\ndata: {_EVENT.model_dump_json()}\n\nevent: ping\ndata: {{}}\n\n"
_CHANGE = (
    f'event: change\ndata: {{"pipeline_id":"{s.PIPELINE_ID}","run_id":"{s.RUN_ID}","event_type":"run_started"}}\n\n'
)
_FINDING = DefinitionFinding(
    path="/checkpoints/0/form", message="This has to be a list of fields.", severity="error", line=5, column=11
)

_DIAGNOSIS = HealthReport(
    checked_at=s.at(30),
    well=True,
    findings=[
        HealthCheck(what="database", verdict="ok", detail="sqlite, sound", remedy=""),
        HealthCheck(what="disk", verdict="warning", detail="0.8 GB free", remedy="make room"),
    ],
)

REQUESTS: dict[str, Any] = {
    **rules.REQUESTS,
    **costs.REQUESTS,
    **people.REQUESTS,
    "create_pipeline": s.DEFINITION,
    "update_pipeline": {"pipeline_description": "What we want, and how it looks."},
    "revert_pipeline": {"revision": 1},
    "validate_definition": s.DEFINITION,
    "compare_definition": s.DEFINITION,
    "replace_definition": s.DEFINITION,
    "add_checkpoint": s.DEFINITION["checkpoints"][0],
    "create_checkpoint": {"pipeline_id": s.PIPELINE_ID, **s.DEFINITION["checkpoints"][0]},
    "update_checkpoint": {"checkpoint_description": "What should be true in two years?"},
    "reorder_checkpoints": {"checkpoint_order": [s.CHECKPOINT_ID]},
    "create_run": {"pipeline_id": s.PIPELINE_ID, "input": {"market": "Europe"}},
    "restart_run": {"pass_number": 1},
    "start_execution": {"execution_id": s.EXECUTION_ID},
    "approve_start": {},
    "approve_completion": {"digest": s.DIGEST},
    "approve_execution": {"digest": s.DIGEST},
    "revise_execution": {"feedback": "Say how we will know", "digest": s.DIGEST},
    "reject_execution": {"feedback": "Say how we will know", "digest": s.DIGEST},
    "submit_form": {"fields": {"goals": "Twice as many customers"}},
    "retry_execution": {"attempt": 1},
    "decide_approval": {"digest": s.DIGEST, "feedback": "Good"},
    "preview_rollback": _ROLLBACK,
    "make_rollback": _ROLLBACK,
    "preview_rework": reworks.REQUEST,
    "ask_rework": reworks.REQUEST,
    "rerun_execution": {"reason": "The goals have changed."},
    **actions.BODIES,
}
RESPONSES: dict[str, View | str | dict[str, Any] | None] = {
    "get_health": Health(
        version="0.1.0", database="sqlite", drift=DriftStatus(checked_at=s.at(-90), repaired=0, moved_aside=0)
    ),
    **people.RESPONSES,
    "list_pipelines": _page(PipelinePage, s.PIPELINE_SUMMARY),
    **dict.fromkeys(
        (
            "create_pipeline",
            "get_pipeline",
            "update_pipeline",
            "restore_pipeline",
            "revert_pipeline",
            "replace_definition",
            "delete_checkpoint",
            "reorder_checkpoints",
        ),
        s.PIPELINE,
    ),
    "delete_pipeline": DeletedPipeline(
        pipeline_id=s.PIPELINE_ID, archive_location=f".archived/{s.PIPELINE_ID}_20260302T101500Z"
    ),
    "get_definition": s.YAML,
    "list_revisions": _page(RevisionPage, _REVISION),
    "get_revision": RevisionDetail(**dict(_REVISION), document=s.DEFINITION),
    **dict.fromkeys(
        ("diff_revisions", "compare_definition"),
        DefinitionDiff(
            changes=[DefinitionChange(path="/pipeline_name", kind="changed", before="Goals", after="Goals to design")],
            text="-pipeline_name: Goals\n+pipeline_name: Goals to design\n",
        ),
    ),
    "validate_definition": DefinitionValidation(valid=False, errors=[_FINDING], warnings=[]),
    "get_definition_schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
    "list_templates": _page(
        TemplatePage,
        Template(
            name="goals",
            title="Goals to design",
            description="Three forms.",
            uses=["people"],
            checkpoints=[TemplateCheckpoint(key="goals", name="Goals", mode="human_only", approve="complete")],
            sample_input=None,
            text=s.YAML,
        ),
    ),
    **dict.fromkeys(("add_checkpoint", "create_checkpoint", "get_checkpoint", "update_checkpoint"), s.CHECKPOINT),
    "list_scripts": _page(ScriptPage, _SCRIPT),
    "get_script": "def main(ctx):\n    return {}\n",
    "put_script": SavedScript(**dict(_SCRIPT), revision=4, warnings=[]),
    "delete_script": RemovedScript(path="reports/monthly.py", revision=5),
    **dict.fromkeys(("list_pipeline_runs", "list_runs"), _page(RunPage, s.SUMMARY)),
    **dict.fromkeys(
        (
            "create_run",
            "get_run",
            "start_run",
            "pause_run",
            "resume_run",
            "cancel_run",
            "restart_run",
            "retry_run",
        ),
        s.RUN,
    ),
    "get_run_input": {"market": "Europe"},
    "list_run_executions": _page(ExecutionPage, s.EXECUTION),
    **dict.fromkeys(
        (
            "get_execution",
            "start_execution",
            "approve_start",
            "approve_completion",
            "approve_execution",
            "revise_execution",
            "reject_execution",
            "submit_form",
            "retry_execution",
            "cancel_execution",
        ),
        s.EXECUTION,
    ),
    "upload_file": Upload(upload_id=s.name("upload"), filename="figures.csv", size_bytes=2048, checksum=s.DIGEST),
    "list_logs": _page(LogPage, _LOG),
    "download_logs": "2026-03-02T09:42:00.000000Z info Form submitted\n",
    "get_context": _CONTEXT,
    "list_approvals": _page(ApprovalPage, s.APPROVAL),
    **dict.fromkeys(("get_approval", "decide_approval"), s.APPROVAL_DETAIL),
    **actions.ANSWERS,
    **rules.RESPONSES,
    **costs.RESPONSES,
    "preview_rework": reworks.PREVIEW,
    "ask_rework": reworks.EXECUTION,
    "rerun_execution": reworks.EXECUTION,
    "get_lineage": reworks.LINEAGE,
    "preview_rollback": _PREVIEW,
    **dict.fromkeys(("make_rollback", "get_rollback", "undo_rollback"), _MADE),
    "list_rollbacks": _page(RollbackPage, _MADE),
    "list_artifacts": _page(ArtifactPage, s.ARTIFACT),
    "get_artifact": s.ARTIFACT,
    "download_artifact": '{"goals": "Twice as many customers"}',
    "get_artifact_content": {"goals": "Twice as many customers"},
    "list_events": _page(EventPage, _EVENT),
    "verify_events": ChainVerification(valid=True, chains=3, events=57, broken=[]),
    **dict.fromkeys(("get_diagnosis", "repair"), _DIAGNOSIS),
    "stream_run": _STREAM,
    "stream_changes": _CHANGE,
}
