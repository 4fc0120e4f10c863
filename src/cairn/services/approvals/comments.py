"""What people say about an approval without deciding it."""

from __future__ import annotations

from uuid import UUID, uuid4, uuid5

import sqlalchemy as sa

from cairn.services.actors import Actor
from cairn.services.approvals.service import find
from cairn.services.engine.engine import Engine
from cairn.services.errors import InvalidInput
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.events import chain

LONGEST = 10_000  # characters


class ApprovalComments:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def add(self, approval_id: str, text: str, *, actor: Actor, command_id: UUID | None = None) -> None:
        if not text.strip():
            raise InvalidInput([("/text", "Say something.")])
        if len(text) > LONGEST:
            raise InvalidInput([("/text", f"A comment has at most {LONGEST:,} characters.")])
        comment_id, now = str(uuid5(command_id or uuid4(), "comment")), self._engine.clock.now()

        def body(connection: Connection) -> str | None:
            asked = find(connection, approval_id)
            c = t.approval_comments.c
            if connection.execute(sa.select(c.comment_id).where(c.comment_id == comment_id)).one_or_none():
                return None  # the same command, sent again
            connection.execute(
                sa.insert(t.approval_comments).values(
                    comment_id=comment_id, approval_id=approval_id, by=actor.name, at=now, text=text
                )
            )
            told = chain.EventRecord(
                "approval_comment_added", {"text": text}, execution_id=asked.execution_id, approval_id=approval_id
            )
            chain.append_run_event(connection, asked.run_id, told, actor.name, now)
            return asked.run_id

        run_id = (await self._engine.database.aread(lambda c: find(c, approval_id))).run_id
        async with self._engine.lock(run_id):
            await self._engine.database.transact(body)
            self._engine.forget(run_id)
