"""Rules in tests: put into force for one pipeline or for all, and taken away again."""

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

REVIEWER = Actor("a reviewer", frozenset({"approver"}))


async def rule(app: App, text: str, scope: str = GLOBAL) -> int:
    """The revision that they have then."""
    return (await app.cairn.rules.save(scope, dedent(text), actor=ADMIN)).revision


async def second_approver(app: App) -> None:
    """So that a rule can want two people."""
    with suppress(InvalidInput, CommandRefused):  # one test may have made it for the others
        await app.cairn.accounts.users.create(UserSpec("reviewer", roles=("approver",)), actor=ADMIN)


@asynccontextmanager
async def globally(app: App, text: str) -> AsyncGenerator[int]:
    """Rules that hold for all pipelines, while a test is about them."""
    try:
        yield await rule(app, text)
    finally:
        await rule(app, "")


def approvals(app: App, run_id: str) -> list[Approval]:
    """All of a run, in the order in which they were asked."""
    from cairn.core.states import ApprovalStatus
    from cairn.services.approvals.queries.lists import ApprovalFilter

    wanted = ApprovalFilter(tuple(ApprovalStatus), (), None, run_id, "age")
    return app.cairn.approval_queries.list_approvals(wanted, 500, None).items


def why(app: App, approval_id: str) -> ApprovalExplanation:
    return app.cairn.rule_queries.explain(approval_id)
