"""Versions of rules, concurrent changes, emergency stops and the rules file."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from cairn.core.errors import CommandRefused
from cairn.core.rules import GLOBAL
from cairn.definitions import DefinitionError
from cairn.services.actors import ADMIN, Actor
from cairn.services.errors import InvalidInput, PreconditionFailed
from cairn.services.events.queries import EventFilter
from cairn.services.identity.users import UserSpec
from cairn.services.rules.service import RuleService
from cairn.store.errors import NotFound
from tests.mentions import mentions
from tests.services.app import App, step
from tests.services.rule_files import rule

pytestmark = pytest.mark.asyncio(loop_scope="package")

UNKNOWN = "00000000-0000-4000-8000-000000000000"
ASK = (
    "checkpoints: [{ name: Ask, trigger: { kind: start, custom_field: { field: run.id, value: none } }, action: {} }]\n"
)
APPROVE = ASK.replace("action: {}", "action: { auto_approve: true, rollout_percentage: 25 }").replace("Ask", "Approve")


def global_events(app: App, *types: str) -> list[tuple[str, str, dict[str, object]]]:
    """Global events of these types, oldest first."""
    events = app.cairn.event_queries.list_events(EventFilter(types=types), 500, None).items
    return [(event.event_type, event.actor, event.metadata) for event in reversed(events) if event.pipeline_id is None]


async def test_every_version_is_stored(app: App) -> None:
    pipeline = await app.pipeline(step("count"))
    read = app.cairn.rule_queries
    empty = read.get_rules(pipeline)
    assert (empty.revision, empty.text, empty.rules, empty.created_by, empty.file) == (0, "", [], None, None)
    assert [await rule(app, text, pipeline) for text in (ASK, ASK, APPROVE, "")] == [1, 1, 2, 3]
    assert [(v.revision, v.text, v.created_by) for v in read.list_versions(pipeline, 10, None).items] == [
        (3, "", "admin"),
        (2, APPROVE, "admin"),
        (1, ASK, "admin"),
    ]
    assert read.get_version(pipeline, 2).text == APPROVE
    assert read.compare(pipeline, 1, 2).text == f"--- version 1\n+++ version 2\n@@ -1 +1 @@\n-{ASK}+{APPROVE}"
    events = [e for e in app.events(pipeline_id=pipeline) if e.event_type == "rules_updated"]
    assert [(e.actor, e.metadata["revision"], e.metadata["rules"]) for e in events] == [
        ("admin", 1, 1),
        ("admin", 2, 1),
        ("admin", 3, 0),
    ]


async def test_active_rules_are_summarized(app: App) -> None:
    pipeline = await app.pipeline(step("count"))
    await rule(app, APPROVE, pipeline)
    shown = app.cairn.rule_queries.get_rules(pipeline)
    assert [rule.model_dump() for rule in shown.rules] == [
        {
            "name": "Approve",
            "section": "checkpoints",
            "priority": 100,
            "is_enabled": True,
            "shadow": False,
            "auto_approves": True,
            "rollout_percentage": 25.0,
            "audit_sample_percentage": 0.0,
        }
    ]


async def test_invalid_rules_change_nothing(app: App) -> None:
    pipeline = await app.pipeline(step("count"))
    await rule(app, ASK, pipeline)
    with pytest.raises(DefinitionError) as caught:
        await rule(app, "checkpoints: [{ name: x }]", pipeline)
    assert {(found.path, found.line) for found in caught.value.findings} == {("/checkpoints/0", 1)}
    assert app.cairn.rule_queries.get_rules(pipeline).revision == 1


async def test_a_change_based_on_an_old_revision_is_rejected(app: App) -> None:
    pipeline = await app.pipeline(step("count"))
    rules = app.cairn.rules
    assert (await rules.save(pipeline, ASK, if_match=0, actor=ADMIN)).revision == 1
    with pytest.raises(PreconditionFailed) as caught:
        await rules.save(pipeline, APPROVE, if_match=0, actor=ADMIN)
    assert caught.value.current == 1


async def test_unknown_scopes_revisions_and_approvals_are_not_found(app: App) -> None:
    with pytest.raises(NotFound):
        await rule(app, ASK, UNKNOWN)
    with pytest.raises(NotFound):
        app.cairn.rule_queries.get_rules(UNKNOWN)
    with pytest.raises(NotFound):
        app.cairn.rule_queries.get_version(GLOBAL, 99_999)
    with pytest.raises(NotFound):
        app.cairn.rule_queries.explain(UNKNOWN)
    pipeline = await app.pipeline(step("count"))
    await app.cairn.pipelines.delete(pipeline, actor=ADMIN)
    with pytest.raises(CommandRefused):
        await rule(app, ASK, pipeline)


async def test_a_rule_cannot_require_more_approvers_than_exist(app: App) -> None:
    rules = RuleService(app.cairn.database, app.cairn.clock, app.cairn.event_bus, app.folder / "x", lambda c, people: 1)
    requires_two = ASK.replace("action: {}", "action: { require_approval_count: 2 }")
    pipeline = await app.pipeline(step("count"))
    with pytest.raises(DefinitionError, match=r"\b2\b.*\b1\b"):
        await rules.save(pipeline, requires_two, actor=ADMIN)
    assert (await rules.save(pipeline, ASK, actor=ADMIN)).revision == 1


async def test_people_who_do_not_exist_are_refused_with_the_line(app: App) -> None:
    pipeline = await app.pipeline(step("count"))
    groups, users = app.cairn.identity.groups, app.cairn.identity.users
    await users.create(UserSpec("rule-reader", email="reader@example.com", roles=("viewer",)), actor=ADMIN)
    await groups.create("rule-group", "", ["rule-reader"], actor=ADMIN)
    people = "approvers: [admin, rule-nobody], escalation: {after_seconds: 1, escalate_to: [rule-group, approver]}"
    text = ASK.replace("action: {}", f"action: {{{people}, notification: {{channels: email, recipients: rule-staff}}}}")
    with pytest.raises(DefinitionError) as error:
        await app.cairn.rules.save(pipeline, text, actor=ADMIN)
    assert [str(finding) for finding in error.value.findings] == [
        mentions("line 1", "rule-nobody"),
        mentions("line 1", "rule-group"),
        mentions("line 1", "rule-staff"),
    ]
    await groups.update("rule-group", ADMIN, members=["rule-reader", "admin"])
    text = text.replace("rule-nobody", "rule-group").replace("rule-staff", "Reader@Example.com")
    assert (await app.cairn.rules.save(pipeline, text, actor=ADMIN)).revision == 1
    await app.cairn.pipelines.delete(pipeline, actor=ADMIN)
    await groups.remove("rule-group", ADMIN)
    await users.remove("rule-reader", actor=ADMIN)


async def test_emergency_stops_are_stored_and_recorded_as_events(app: App) -> None:
    rules, read = app.cairn.rules, app.cairn.rule_queries
    boss = Actor("boss", frozenset({"admin"}))
    with pytest.raises(InvalidInput):
        await rules.stop(True, " ", actor=boss)
    before = len(read.list_emergency_stops(500, None).items)
    assert [await rules.stop(True, "odd", actor=boss), await rules.stop(True, "odd", actor=boss)] == [True, False]
    first = read.get_rules(GLOBAL).emergency_stop
    assert (first.stopped, first.reason, first.by) == (True, "odd", "boss")
    other = Actor("other", frozenset({"admin"}))
    assert [await rules.stop(True, "a bad model", actor=other), await rules.stop(True, "a bad model", actor=boss)] == [
        True,
        False,
    ]
    shown = read.get_rules(GLOBAL).emergency_stop
    assert shown == first.model_copy(update={"reason": "a bad model"})  # the user and the time are unchanged
    assert [await rules.stop(False, "all well", actor=boss), await rules.stop(False, "", actor=boss)] == [True, False]
    assert [(s.stopped, s.reason) for s in read.list_emergency_stops(2, None).items] == [
        (False, "all well"),
        (True, "a bad model"),
    ]
    assert len(read.list_emergency_stops(500, None).items) == before + 2
    assert global_events(app, "emergency_stop_enabled", "emergency_stop_reason_updated", "emergency_stop_lifted")[
        -3:
    ] == [
        ("emergency_stop_enabled", "boss", {"reason": "odd"}),
        ("emergency_stop_reason_updated", "other", {"reason": "a bad model", "earlier_reason": "odd"}),
        ("emergency_stop_lifted", "boss", {"reason": "all well"}),
    ]


async def test_the_doctor_reports_rules_without_enough_approvers(app: App) -> None:
    """Also for rules saved before the approvers were removed."""
    pipeline = await app.pipeline(step("count"))
    rules = RuleService(
        app.cairn.database, app.cairn.clock, app.cairn.event_bus, app.folder / "x"
    )  # does not check approvers
    await rules.save(pipeline, ASK.replace("action: {}", "action: { approvers: somebody who left }"), actor=ADMIN)
    diagnosis = await app.cairn.doctor.examine()
    [found] = [check for check in diagnosis.checks if check.name == "rules" and pipeline in check.detail]
    assert (found.status, found.detail) == ("warning", mentions(pipeline, "line 1, column"))
    await rule(app, "", pipeline)


# Rules file
def file_of(app: App) -> Path:
    return app.cairn.rules.file.path


async def test_the_file_and_the_database_are_synced_in_both_directions(app: App) -> None:
    """An edit becomes a version with the author `file`. Rules saved elsewhere are written to the file."""
    path, read = file_of(app), app.cairn.rule_queries
    path.write_text(ASK)
    await app.wait_until(lambda: read.get_rules(GLOBAL).text == ASK)
    found = read.get_rules(GLOBAL)
    assert (found.created_by, found.file and found.file.errors) == ("file", [])
    assert global_events(app, "rules_updated")[-1][:2] == ("rules_updated", "file")
    await rule(app, APPROVE)
    assert path.read_text() == APPROVE
    await rule(app, "")
    assert path.read_text() == ""


async def test_an_invalid_file_changes_nothing_and_is_reported(app: App) -> None:
    path, read = file_of(app), app.cairn.rule_queries
    await rule(app, ASK)
    path.write_text("checkpoints:\n  - name: 5\n")

    def faults() -> list[tuple[str, int | None]] | None:
        shown = read.get_rules(GLOBAL).file
        return [(found.path, found.line) for found in shown.errors] if shown and shown.errors else None

    assert ("/checkpoints/0/name", 2) in await app.wait_until(faults)
    assert read.get_rules(GLOBAL).text == ASK
    diagnosis = await app.cairn.doctor.examine()
    assert ("warning", mentions(path)) in [
        (found.status, found.hint) for found in diagnosis.checks if found.name == "rules"
    ]
    await rule(app, "")  # saved rules replace the invalid file, which is renamed
    assert (path.read_text(), path.with_name("rules.refused.yaml").read_text()) == ("", "checkpoints:\n  - name: 5\n")
    assert faults() is None


async def test_an_unreadable_file_is_reported(app: App) -> None:
    path = file_of(app)
    await rule(app, ASK)
    path.write_bytes(b"\xff\xfe")
    shown = await app.wait_until(lambda: app.cairn.rules.file.errors or None)
    assert shown[0].message == mentions("0xff")
    path.write_bytes(b"#" * (1024 * 1024 + 1))
    await app.wait_until(lambda: "1,048,576" in app.cairn.rules.file.errors[0].message)
    await rule(app, "")
    assert (path.read_text(), app.cairn.rules.file.errors) == ("", ())


async def test_a_deleted_file_changes_nothing(app: App) -> None:
    """To remove rules, save an empty text."""
    await rule(app, ASK)
    file_of(app).unlink()
    await app.cairn.rules.file.sync()
    assert app.cairn.rule_queries.get_rules(GLOBAL).text == ASK
    assert not file_of(app).exists()
    await rule(app, "")
    assert file_of(app).read_text() == ""


async def test_changes_made_while_the_server_was_stopped_are_synced_at_the_start(app: App, tmp_path: Path) -> None:
    """The last common text tells whether the file or the database has changed."""
    cairn, path = app.cairn, tmp_path / "rules.yaml"

    def start() -> RuleService:
        return RuleService(cairn.database, cairn.clock, cairn.event_bus, path)

    await rule(app, ASK)
    await start().file.sync()
    assert path.read_text() == ASK  # a missing file is written
    path.write_text(APPROVE)
    await start().file.sync()
    assert cairn.rule_queries.get_rules(GLOBAL).text == APPROVE
    await rule(app, "")  # the server stopped before it could write the file
    await start().file.sync()
    assert path.read_text() == ""


async def test_a_symbolic_link_is_followed(app: App, tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    real, link = tmp_path / "repository" / "rules.yaml", tmp_path / "rules.yaml"
    real.write_text(ASK)
    link.symlink_to(real)
    rules = RuleService(app.cairn.database, app.cairn.clock, app.cairn.event_bus, link)
    await rules.file.sync()
    assert app.cairn.rule_queries.get_rules(GLOBAL).text == ASK
    await rules.save(GLOBAL, "", actor=ADMIN)
    assert (real.read_text(), link.is_symlink()) == ("", True)


async def test_rules_can_be_saved_if_the_file_cannot_be_written(app: App, tmp_path: Path) -> None:
    rules = RuleService(app.cairn.database, app.cairn.clock, app.cairn.event_bus, tmp_path / "gone" / "rules.yaml")
    assert (await rules.save(GLOBAL, dedent(ASK), actor=ADMIN)).changed
    assert (await rules.save(GLOBAL, "", actor=ADMIN)).changed
