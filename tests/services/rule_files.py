"""Helpers that save and read rules in tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from textwrap import dedent

from cairn.core.errors import CommandRefused
from cairn.core.rules import GLOBAL
from cairn.services.actors import ADMIN, Actor
from cairn.services.approvals.views import Approval
from cairn.services.errors import InvalidInput
from cairn.services.identity.users import UserSpec
from cairn.services.rules.views import ApprovalExplanation
from tests.services.app import App

REVIEWER = Actor("reviewer", frozenset({"approver"}))


async def rule(app: App, text: str, scope: str = GLOBAL) -> int:
    """Save rules. Returns their revision."""
    return (await app.cairn.rules.save(scope, dedent(text), actor=ADMIN)).revision


async def second_approver(app: App) -> None:
    """Add REVIEWER, so that rules can require two approvers."""
    await add_users(app, REVIEWER)


async def add_users(app: App, *actors: Actor) -> None:
    """Only people with an account can approve actions."""
    for actor in actors:
        with suppress(InvalidInput, CommandRefused):  # another test may have created it
            await app.cairn.identity.users.create(UserSpec(actor.name, roles=tuple(actor.roles)), actor=ADMIN)


@asynccontextmanager
async def globally(app: App, text: str) -> AsyncGenerator[int]:
    """Apply rules to all pipelines within the block."""
    try:
        yield await rule(app, text)
    finally:
        await rule(app, "")


def approvals(app: App, run_id: str) -> list[Approval]:
    """All approvals of a run, oldest first."""
    from cairn.core.states import ApprovalStatus
    from cairn.services.approvals.queries.lists import ApprovalFilter

    of_run = ApprovalFilter(tuple(ApprovalStatus), (), None, run_id, "age")
    return app.cairn.approval_queries.list_approvals(of_run, 500, None).items


def why(app: App, approval_id: str) -> ApprovalExplanation:
    return app.cairn.rule_queries.explain(approval_id)
