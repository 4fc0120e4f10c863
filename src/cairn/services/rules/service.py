"""Rules for approvals: saved with every version kept, stopped at once, their samples reviewed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.core.rules import GLOBAL
from cairn.core.states import ApprovalStatus
from cairn.definitions import Finding
from cairn.definitions.rules import LoadedRules as Written
from cairn.definitions.rules import load
from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.errors import InvalidInput, PreconditionFailed
from cairn.services.rules.rules_file import RulesFileWatcher
from cairn.store import Connection, Database, LostRace, pipelines, rules
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.events import chain
from cairn.store.events.chain import EventRecord

_PLACE = tuple(t.checkpoint_executions.c[name] for name in ("execution_id", "checkpoint_id", "checkpoint_name"))
Count = Callable[[Connection, tuple[str, ...]], int]  # how many people may decide of those who are named


@dataclass(frozen=True, slots=True)
class SavedRules:
    scope: str
    revision: int
    warnings: tuple[Finding, ...] = ()
    changed: bool = True


class RuleService:
    def __init__(self, database: Database, clock: Clock, hub: EventBus, path: Path, count: Count | None = None) -> None:
        self._database = database
        self._clock = clock
        self._hub = hub
        self._count = count
        self.file = RulesFileWatcher(database, path, self._save_found)

    # ---- texts ---------------------------------------------------------------------------------------
    async def check(self, text: str | bytes) -> Written:
        """What a text says; DefinitionError with all its faults."""
        return await self._database.aread(lambda c: self.read(c, text))

    def read(self, connection: Connection, text: str | bytes) -> Written:
        count = self._count
        return load(text, count=None if count is None else lambda people: count(connection, people))

    async def save(
        self, scope: str, text: str, *, if_match: int | None = None, comment: str = "", actor: Actor
    ) -> SavedRules:
        """The next version, in force with the commit. The same text again changes nothing."""
        if scope != GLOBAL:
            return await self._save(scope, text, if_match, comment, actor.name)
        await self.file.follow()  # what is written there already becomes a version of its own
        saved = await self._save(scope, text, if_match, comment, actor.name)
        await self.file.give()
        return saved

    async def _save_found(self, text: str) -> SavedRules:
        """What somebody has written into the file."""
        return await self._save(GLOBAL, text, None, "", "file")

    async def _save(self, scope: str, text: str, if_match: int | None, comment: str, by: str) -> SavedRules:
        written = await self.check(text)

        def write(connection: Connection) -> SavedRules:
            return self._write(connection, scope, text, if_match, comment, by, written)

        try:
            saved = await self._database.transact(write)
        except LostRace:
            saved = await self._database.transact(write)
        if saved.changed:
            self._announce(scope, "rules_updated")
        return saved

    def _write(
        self,
        connection: Connection,
        scope: str,
        text: str,
        if_match: int | None,
        comment: str,
        by: str,
        written: Written,
    ) -> SavedRules:
        if scope != GLOBAL and pipelines.lock(connection, scope).deleted_at is not None:
            raise CommandRefused("The pipeline is deleted: it cannot be changed.", ("restore",))
        was = rules.head(connection, scope, lock=True)
        if if_match is not None and if_match != was.revision:
            raise PreconditionFailed(
                f"Somebody has changed the rules since: they are at revision {was.revision}, not {if_match}.",
                was.revision,
            )
        if text == (rules.text(connection, scope, was.revision) or ""):
            return SavedRules(scope, was.revision, written.warnings, changed=False)
        at = self._clock.now()
        now = rules.save(connection, was, text, by, at, comment)
        told = {"revision": now.revision, "rules": len(written.rulebook.rules), "comment": comment}
        if scope == GLOBAL:
            chain.append_global_event(connection, "rules_updated", by, at, told)
        else:
            chain.append_pipeline_event(connection, scope, "rules_updated", by, at, told)
        return SavedRules(scope, now.revision, written.warnings)

    # ---- all at once ---------------------------------------------------------------------------------
    async def stop(self, stopped: bool, reason: str, actor: Actor) -> bool:
        """Stop every automatic approval from this moment on, or let them go on. False: it was so already.

        Asked again while it is on, another reason takes the place of the first; who stopped it, and when, stay.
        """
        if stopped and not reason.strip():
            raise InvalidInput([("/reason", "Say why: 'reason' is required to stop.")])

        def write(connection: Connection) -> str | None:
            was, at = rules.head(connection, GLOBAL, lock=True), self._clock.now()
            told: dict[str, str] = {"reason": reason}
            if was.stopped != stopped:
                rules.stop(connection, was, stopped, reason, actor.name, at)
                event = "emergency_stop_enabled" if stopped else "emergency_stop_lifted"
            elif stopped and (earlier := rules.explain_stop(connection, reason)) is not None:
                told["earlier_reason"] = earlier
                event = "emergency_stop_reason_updated"
            else:
                return None
            chain.append_global_event(connection, event, actor.name, at, told)
            return event

        event = await self._database.transact(write)
        if event is not None:
            self._announce(GLOBAL, event)
        return event is not None

    # ---- samples -------------------------------------------------------------------------------------
    async def review(self, approval_id: str, agrees: bool, comment: str, actor: Actor) -> None:
        """What a person says of an automatic approval afterwards; the run goes its way."""

        def write(connection: Connection) -> ChangeHint:
            a, e, reviews = t.approvals.c, t.checkpoint_executions.c, t.audit_reviews
            row = connection.execute(
                sa.select(a.run_id, a.pipeline_id, a.status, a.audit, a.rule, *_PLACE)
                .join_from(t.approvals, t.checkpoint_executions, e.execution_id == a.execution_id)
                .where(a.approval_id == approval_id)
            ).one_or_none()
            if row is None:
                raise NotFound("approval", approval_id)
            if row.status != ApprovalStatus.AUTO_APPROVED.value or not row.audit:
                raise CommandRefused("This approval is not among those that people look at afterwards.")
            at = self._clock.now()
            said = {"agrees": agrees, "comment": comment, "by": actor.name, "at": at}
            mine = reviews.c.approval_id == approval_id
            if connection.execute(sa.update(reviews).where(mine).values(said)).rowcount == 0:
                connection.execute(sa.insert(reviews).values(approval_id=approval_id, **said))
            detail = {"agrees": agrees, "comment": comment, "rule": row.rule}
            told = EventRecord(
                "auto_approval_reviewed",
                detail,
                execution_id=row.execution_id,
                checkpoint_id=row.checkpoint_id,
                approval_id=approval_id,
                name=row.checkpoint_name,
            )
            chain.append_run_event(connection, row.run_id, told, actor.name, at)
            return ChangeHint(row.pipeline_id, row.run_id, "auto_approval_reviewed")

        self._hub.publish(await self._database.transact(write))

    def _announce(self, scope: str, event_type: str) -> None:
        self._hub.publish(ChangeHint(None if scope == GLOBAL else scope, None, event_type))
