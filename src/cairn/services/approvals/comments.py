"""Comments on approvals."""

from __future__ import annotations

from uuid import UUID, uuid4, uuid5

from cairn.services.actors import Actor
from cairn.services.approvals import records
from cairn.services.approvals.queries.pending import find_approval
from cairn.services.engine.engine import Engine
from cairn.services.errors import InvalidInput
from cairn.store import Connection
from cairn.store.events import chain

MAX_LENGTH = 10_000  # characters


class ApprovalComments:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def add(self, approval_id: str, text: str, *, actor: Actor, command_id: UUID | None = None) -> None:
        if not text.strip():
            raise InvalidInput([("/text", "Enter a comment.")])
        if len(text) > MAX_LENGTH:
            raise InvalidInput([("/text", f"A comment can have at most {MAX_LENGTH:,} characters.")])
        comment_id, now = str(uuid5(command_id or uuid4(), "comment")), self._engine.clock.now()

        def body(connection: Connection) -> None:
            approval = find_approval(connection, approval_id)
            if not records.insert_comment(connection, comment_id, approval_id, actor.name, text, now):
                return
            event = chain.EventRecord(
                "approval_comment_added", {"text": text}, execution_id=approval.execution_id, approval_id=approval_id
            )
            chain.append_run_event(connection, approval.run_id, event, actor.name, now)

        run_id = (await self._engine.database.aread(lambda c: find_approval(c, approval_id))).run_id
        async with self._engine.lock(run_id):
            await self._engine.database.transact(body)
            self._engine.forget(run_id)
