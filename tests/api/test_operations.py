"""Every operation declares its permission by role and scope."""

from __future__ import annotations

import pytest

from cairn.api.app import ROUTERS, operation_routes
from cairn.api.operations import ADMIN, DEFINE, OPEN, READ, RUN, OperationRoute, operation, operation_router
from cairn.api.requests.approvals import Decision
from cairn.api.routes.approvals import DECISION_PERMISSIONS
from cairn.core.transitions import DECISIONS as MOVES
from cairn.services.actors import ALL_ROLES, Actor
from cairn.services.approvals.eligibility import DECIDE, SUBMIT

ROUTES = {route.name: route for route in operation_routes()}
PERMISSIONS = {name: route.operation.permission for name, route in ROUTES.items()}


def test_operation_names_are_unique() -> None:
    assert len(ROUTES) == len(operation_routes())


def test_every_route_is_an_operation() -> None:
    assert [route for router in ROUTERS for route in router.routes if not isinstance(route, OperationRoute)] == []


def test_a_handler_without_an_operation_is_rejected() -> None:
    router = operation_router("/api", "Runs")

    async def list_runs() -> None: ...

    with pytest.raises(TypeError, match=r"The handler of /api/runs needs @operation\."):
        router.get("/runs")(list_runs)
    assert router.routes == []
    router.get("/runs")(operation(READ)(list_runs))
    assert [route.path for route in router.routes if isinstance(route, OperationRoute)] == ["/api/runs"]


def test_only_sign_in_and_health_need_no_permission() -> None:
    assert {name for name, allowed in PERMISSIONS.items() if allowed is OPEN} == {
        "get_health",
        "sign_in",
        "sign_out",
        "list_sign_in_options",
        "start_sign_in",
        "finish_sign_in",
        "preview_invitation",
        "accept_invitation",
    }


def test_reading_operations_are_gets_with_known_exceptions() -> None:
    reads = {name for name, allowed in PERMISSIONS.items() if allowed == READ}
    assert {name for name in reads if "GET" not in (ROUTES[name].methods or ())} == {
        "check_rules",
        "compare_definition",
        "preview_modification",
        "preview_rework",
        "preview_rollback",
        "validate_definition",
    }
    changes = {name for name, allowed in PERMISSIONS.items() if allowed not in (READ, OPEN)}
    # Health, deliveries, tools and users are for admins only. Users can read their own sessions and tokens.
    notification_reads = {"list_channels", "get_channel", "list_deliveries", "get_delivery"}
    people = {"get_user", "list_invitations", "list_secrets", "list_sessions", "list_tokens", "list_users"}
    people |= {"list_own_tokens"}
    assert {name for name in changes if "GET" in (ROUTES[name].methods or ())} == {
        "get_health_report"
    } | notification_reads | people | {"list_tools", "get_tool"}


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("viewer", {"read"}),
        ("editor", {"read", "define", "run", "submit"}),
        ("approver", {"read", "decide", "submit"}),
        ("admin", {"read", "define", "run", "decide", "submit", "admin"}),
    ],
)
def test_roles_have_the_specified_permissions(role: str, may: set[str]) -> None:
    levels = {"read": READ, "define": DEFINE, "run": RUN, "decide": DECIDE, "submit": SUBMIT, "admin": ADMIN}
    actor = Actor("somebody", frozenset({role}))
    assert {level for level, allowed in levels.items() if actor.can(allowed)} == may


def test_roles_are_combined() -> None:
    both = Actor("somebody", frozenset({"editor", "approver"}))
    assert both.can(RUN)
    assert both.can(DEFINE)
    assert both.can(DECIDE)
    assert not Actor("nobody").can(READ)


@pytest.mark.parametrize(
    ("scope", "may"),
    [
        ("read", {"read"}),
        ("define", {"read", "define"}),
        ("run", {"read", "run", "submit"}),
        ("decide", {"read", "decide", "submit"}),
        ("admin", {"read", "admin"}),
    ],
)
def test_a_scope_narrows_the_permissions_of_roles(scope: str, may: set[str]) -> None:
    levels = {"read": READ, "define": DEFINE, "run": RUN, "decide": DECIDE, "submit": SUBMIT, "admin": ADMIN}
    actor = Actor("somebody", ALL_ROLES, scopes=frozenset({scope}))
    assert {level for level, allowed in levels.items() if actor.can(allowed)} == may
    assert not Actor("somebody", frozenset({"viewer"}), scopes=frozenset({scope})).can(ADMIN)


def test_every_decision_except_modify_has_a_role() -> None:
    known = {decision for decisions in MOVES.values() for decision in decisions}
    assert set(DECISION_PERMISSIONS) == known - {"modify"}
    assert set(Decision.__args__) == set(DECISION_PERMISSIONS)
