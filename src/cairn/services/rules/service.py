"""Save rules, stop automatic approvals, and review samples of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cairn.core.errors import CommandRefused
from cairn.core.rules import GLOBAL
from cairn.core.states import ApprovalStatus
from cairn.definitions import Finding
from cairn.definitions.rules import KnownNames, LoadedRules, load
from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.errors import InvalidInput, PreconditionFailed
from cairn.services.rules import records
from cairn.services.rules.queries.autonomy import sampled_approval
from cairn.services.rules.rules_file import RulesFileWatcher
from cairn.store import Connection, Database, LostRace, pipelines, rules
from cairn.store.events import chain
from cairn.store.events.chain import EventRecord

CountDeciders = Callable[[Connection, tuple[str, ...]], int]  # counts the named users who can decide
ReadNames = Callable[[Connection], KnownNames]  # reads what rules can name


@dataclass(frozen=True, slots=True)
class SavedRules:
    scope: str
    revision: int
    warnings: tuple[Finding, ...] = ()
    changed: bool = True


class RuleService:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        event_bus: EventBus,
        path: Path,
        count_deciders: CountDeciders | None = None,
        read_names: ReadNames | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._event_bus = event_bus
        self._count_deciders = count_deciders
        self._read_names = read_names
        self.file = RulesFileWatcher(database, path, self._save_from_file)

    # Versions
    async def check(self, text: str | bytes) -> LoadedRules:
        """Load rules without saving them. Raises DefinitionError with all errors."""
        return await self._database.aread(lambda c: self.load(c, text))

    def load(self, connection: Connection, text: str | bytes) -> LoadedRules:
        count = self._count_deciders
        return load(
            text,
            count=None if count is None else lambda names: count(connection, names),
            known=self._read_names(connection) if self._read_names is not None else None,
        )

    async def save(
        self, scope: str, text: str, *, if_match: int | None = None, comment: str = "", actor: Actor
    ) -> SavedRules:
        """Save the next version, which is active with the commit. Saving the same text again changes nothing."""
        if scope != GLOBAL:
            return await self._save(scope, text, if_match, comment, actor.name)
        await self.file.sync()  # edits of the file are first saved as a separate version
        saved = await self._save(scope, text, if_match, comment, actor.name)
        await self.file.overwrite()
        return saved

    async def _save_from_file(self, text: str) -> SavedRules:
        return await self._save(GLOBAL, text, None, "", "file")

    async def _save(self, scope: str, text: str, if_match: int | None, comment: str, author: str) -> SavedRules:
        loaded = await self.check(text)

        def write(connection: Connection) -> SavedRules:
            return self._write(connection, scope, text, if_match, comment, author, loaded)

        try:
            saved = await self._database.transact(write)
        except LostRace:
            saved = await self._database.transact(write)
        if saved.changed:
            self._publish(scope, "rules_updated")
        return saved

    def _write(
        self,
        connection: Connection,
        scope: str,
        text: str,
        if_match: int | None,
        comment: str,
        author: str,
        loaded: LoadedRules,
    ) -> SavedRules:
        if scope != GLOBAL and pipelines.lock(connection, scope).deleted_at is not None:
            raise CommandRefused("The pipeline is deleted. Restore it to change its rules.", ("restore",))
        before = rules.active_version(connection, scope, lock=True)
        if if_match is not None and if_match != before.revision:
            raise PreconditionFailed(
                f"The rules have changed: they are at revision {before.revision}, not {if_match}. "
                "Reload them and try again.",
                before.revision,
            )
        if text == (rules.text(connection, scope, before.revision) or ""):
            return SavedRules(scope, before.revision, loaded.warnings, changed=False)
        at = self._clock.now()
        after = rules.save(connection, before, text, author, at, comment)
        metadata = {"revision": after.revision, "rules": len(loaded.rulebook.rules), "comment": comment}
        if scope == GLOBAL:
            chain.append_global_event(connection, "rules_updated", author, at, metadata)
        else:
            chain.append_pipeline_event(connection, scope, "rules_updated", author, at, metadata)
        return SavedRules(scope, after.revision, loaded.warnings)

    # Emergency stop
    async def stop(self, stopped: bool, reason: str, actor: Actor) -> bool:
        """Stop all automatic approvals, or allow them again. Return whether anything changed.

        Stopping again replaces only the reason, not the user and the time of the stop.
        """
        if stopped and not reason.strip():
            raise InvalidInput([("/reason", "Enter a reason for the emergency stop.")])

        def write(connection: Connection) -> str | None:
            active, at = rules.active_version(connection, GLOBAL, lock=True), self._clock.now()
            metadata: dict[str, str] = {"reason": reason}
            if active.stopped != stopped:
                rules.stop(connection, active, stopped, reason, actor.name, at)
                event = "emergency_stop_enabled" if stopped else "emergency_stop_lifted"
            elif stopped and (earlier_reason := rules.update_stop_reason(connection, reason)) is not None:
                metadata["earlier_reason"] = earlier_reason
                event = "emergency_stop_reason_updated"
            else:
                return None
            chain.append_global_event(connection, event, actor.name, at, metadata)
            return event

        event = await self._database.transact(write)
        if event is not None:
            self._publish(GLOBAL, event)
        return event is not None

    # Audits
    async def review(self, approval_id: str, agrees: bool, comment: str, actor: Actor) -> None:
        """Record whether a user agrees with an automatic approval. The run is not affected."""

        def write(connection: Connection) -> ChangeHint:
            row = sampled_approval(connection, approval_id)
            if row.status != ApprovalStatus.AUTO_APPROVED.value or not row.audit:
                raise CommandRefused("This approval was not sampled for review.")
            at = self._clock.now()
            records.save_review(connection, approval_id, agrees, comment, actor.name, at)
            event = EventRecord(
                "auto_approval_reviewed",
                {"agrees": agrees, "comment": comment, "rule": row.rule},
                execution_id=row.execution_id,
                checkpoint_id=row.checkpoint_id,
                approval_id=approval_id,
                name=row.checkpoint_name,
            )
            chain.append_run_event(connection, row.run_id, event, actor.name, at)
            return ChangeHint(row.pipeline_id, row.run_id, "auto_approval_reviewed")

        self._event_bus.publish(await self._database.transact(write))

    def _publish(self, scope: str, event_type: str) -> None:
        self._event_bus.publish(ChangeHint(None if scope == GLOBAL else scope, None, event_type))
