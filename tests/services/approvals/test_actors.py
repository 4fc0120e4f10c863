"""Users, roles and groups named by approvals."""

from __future__ import annotations

import pytest

from cairn.services.actors import Actor, names_of

ANN = Actor("ann", frozenset({"approver"}), "Ann@Example.com", frozenset({"Finance"}))


@pytest.mark.parametrize("named", ["ann", "ANN", " ann ", "ann@example.com", "approver", "Approver", "finance"])
def test_an_actor_matches_its_name_address_role_and_group(named: str) -> None:
    assert ANN.is_one_of(["somebody", named])


@pytest.mark.parametrize("named", ["", "an", "annette", "ann@example", "admin", "finances", "example.com"])
def test_an_actor_does_not_match_other_names(named: str) -> None:
    assert not ANN.is_one_of([named])
    assert not ANN.is_one_of([])


def test_an_actor_without_an_address_does_not_match_an_empty_name() -> None:
    assert not Actor("bob").is_one_of([""])


def test_a_delegate_matches_the_names_of_the_delegator() -> None:
    names = names_of(ANN.name, ANN.email, ANN.roles, ANN.groups)
    bob = Actor("bob", frozenset({"approver"}), acting_for=frozenset({"ann"}), delegator_names=names)
    assert [bob.is_one_of([named]) for named in ("ann", "ann@example.com", "Finance", "admin")] == [True] * 3 + [False]
