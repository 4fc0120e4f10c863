"""Approvers of rules: people, seats and steps, and whether enough people exist."""

from __future__ import annotations

import pytest

from cairn.core.rules import GLOBAL
from cairn.core.seats import Requirement, SeatGroup, Step
from cairn.definitions.rules import load
from tests.definitions.test_rules import findings, rule, rules
from tests.mentions import mentions

F, L, LEADS = SeatGroup(("finance",)), SeatGroup(("legal",)), SeatGroup(("leads",))
SHAPES: dict[str, tuple[str, tuple[Step, ...]]] = {
    "nobody": ("{}", ((SeatGroup(),),)),
    "a count": ("{ require_approval_count: 2 }", ((SeatGroup((), 2),),)),
    "a name": ("{ approvers: finance }", ((F,),)),
    "names": ("{ approvers: [finance, boss], require_approval_count: 2 }", ((SeatGroup(("finance", "boss"), 2),),)),
    "one seat": ("{ approvers: { from: finance } }", ((F,),)),
    "one seat in a list": ("{ approvers: [{ from: finance, count: 2 }] }", ((SeatGroup(("finance",), 2),),)),
    "seats": ("{ approvers: [{ from: finance, count: 1 }, { from: legal, count: 1 }] }", ((F, L),)),
    "seats of several groups": (
        "{ approvers: [{ from: [finance, boss], count: 2 }, { from: legal }] }",
        ((SeatGroup(("finance", "boss"), 2), L),),
    ),
    "steps": ("{ approvers: [{ step: leads }, { step: { from: finance } }] }", ((LEADS,), (F,))),
    "steps of seats": (
        "{ approvers: [{ step: [leads] }, { step: [{ from: finance }, { from: legal, count: 2 }] }] }",
        ((LEADS,), (F, SeatGroup(("legal",), 2))),
    ),
    "one step": ("{ approvers: [{ step: [finance, legal] }] }", ((SeatGroup(("finance", "legal")),),)),
}


@pytest.mark.parametrize("case", SHAPES)
def test_approvers_are_people_seats_or_steps(case: str) -> None:
    action, steps = SHAPES[case]
    [compiled] = load(rules(rule(action))).rulebook.rules
    assert compiled.requirement(GLOBAL) == Requirement("Rule", GLOBAL, steps)
    groups = [group for step in steps for group in step]
    assert compiled.terms.required_approvals == sum(group.count for group in groups)
    assert set(compiled.terms.approvers) == {name for group in groups for name in group.members}


def test_the_starter_is_excluded_from_all_seats() -> None:
    action = "{ approvers: [{ from: finance }, { from: legal }], not_by_starter: true }"
    [compiled] = load(rules(rule(action))).rulebook.rules
    assert compiled.requirement(GLOBAL).not_by_starter


INVALID = {
    "a seat without people": ("{ approvers: [{ count: 2 }] }", "approvers/0", mentions("`from`")),
    "an unknown key": ("{ approvers: [{ from: a, who: b }] }", "approvers/0", mentions("`who`")),
    "a seat for zero people": ("{ approvers: [{ from: a, count: 0 }] }", "approvers/0/count", mentions(0)),
    "names next to seats": ("{ approvers: [{ from: a }, b] }", "approvers/1", mentions("b")),
    "seats next to steps": ("{ approvers: [{ step: a }, { from: b }] }", "approvers/1", mentions("`step`")),
    "an empty step": ("{ approvers: [{ step: [] }] }", "approvers/0/step", mentions()),
    "steps in steps": ("{ approvers: [{ step: [{ step: a }] }] }", "approvers/0/step/0", mentions()),
    "a count besides seats": (
        "{ approvers: [{ from: a }], require_approval_count: 2 }",
        "require_approval_count",
        mentions("`count`"),
    ),
}


@pytest.mark.parametrize("case", INVALID)
def test_other_shapes_are_rejected(case: str) -> None:
    action, path, message = INVALID[case]
    found = findings(rules(rule(action)))
    assert {finding.path for finding in found} == {f"/checkpoints/0/action/{path}"}
    assert any(finding.message == message for finding in found)


@pytest.mark.parametrize("trigger", ["{ kind: start }", "{ custom_field: { field: input.a, value: 1 } }"])
@pytest.mark.parametrize("approvers", ["[{ from: a }, { from: b }]", "[{ step: a }, { step: b }]"])
def test_several_groups_are_for_actions_only(trigger: str, approvers: str) -> None:
    found = findings(rules(rule(f"{{ approvers: {approvers} }}", trigger)))
    assert [(finding.path, finding.message) for finding in found] == [
        ("/checkpoints/0/action/approvers", mentions("`kind: action`"))
    ]
    assert load(rules(rule("{ approvers: [{ from: a, count: 2 }] }", trigger))).rulebook.rules[0].steps == ()


# ---- people ------------------------------------------------------------------------------------------------
PEOPLE = {"finance": {"ann", "bob"}, "legal": {"bob"}, "leads": {"cem"}, "twin": {"bob"}}


def count(names: tuple[str, ...]) -> int:
    everyone = {"ann", "bob", "cem"}
    return len(set[str]().union(*(PEOPLE.get(name, set()) for name in names))) if names else len(everyone)


@pytest.mark.parametrize(
    ("approvers", "path", "message"),
    [
        ("[{ from: nobody }]", "/0", mentions(1, "nobody")),
        ("[{ from: finance }, { from: nobody }]", "/1", mentions(1, "nobody")),
        ("[{ from: legal, count: 2 }, { from: leads }]", "/0", mentions(2, "legal", 1)),
        ("[{ step: leads }, { step: [{ from: finance, count: 3 }] }]", "/1/step/0", mentions(3, "finance", 2)),
        ("[{ from: legal }, { from: twin }]", "", mentions(2, "legal, twin", 1)),  # the same person
        ("[{ from: finance, count: 2 }, { from: legal }]", "", mentions(3, "finance, legal", 2)),
        ("[{ step: legal }, { step: leads }, { step: twin }]", "", mentions(2, "legal, twin", 1)),
    ],
)
def test_seats_that_nobody_can_fill_are_rejected(approvers: str, path: str, message: str) -> None:
    found = findings(rules(rule(f"{{ approvers: {approvers} }}")), count=count)
    assert (f"/checkpoints/0/action/approvers{path}", message) in [(each.path, each.message) for each in found]


@pytest.mark.parametrize(
    "approvers",
    ["[{ from: finance }, { from: legal }]", "[{ step: leads }, { step: [{ from: finance, count: 2 }] }]", "leads"],
)
def test_seats_that_different_people_can_fill_are_accepted(approvers: str) -> None:
    assert load(rules(rule(f"{{ approvers: {approvers} }}")), count=count).rulebook.rules
