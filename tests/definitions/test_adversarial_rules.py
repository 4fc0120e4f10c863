"""An adversary proposes actions: none is approved that the author of the rules would not let pass."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any, cast

import pytest

from cairn.core.action_rules import ActionRules, ApprovingRule
from cairn.core.comparisons import MISSING
from cairn.core.conditions import FieldLookup
from cairn.core.rule_judge import judge_action
from cairn.core.rule_verdict import ProposedAction, RiskLevel, RuleQuestion
from cairn.core.rules import GLOBAL, ScopedRulebook
from cairn.core.states import ApprovalKind
from cairn.definitions.rules import load
from tests.definitions.adversarial_proposals import HONEST, finished, honest, proposals
from tests.definitions.adversarial_rules import RULE_FILES, Proposal
from tests.effort import chance, effort

AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
PROPOSALS = 300


@cache
def rulebook(name: str) -> ScopedRulebook:
    return ScopedRulebook(GLOBAL, 1, load(RULE_FILES[name].text).rulebook)


def judged(name: str, of: Proposal) -> ActionRules:
    def read(field: FieldLookup) -> Any:
        value: Any = of.run.get(field.root.value, MISSING)
        for step in field.steps:
            value = cast("dict[Any, Any]", value).get(step, MISSING) if isinstance(value, dict) else MISSING
        return value

    action = ProposedAction(of.operation, of.parameters, RiskLevel(of.risk), of.confidence, of.facts)
    question = RuleQuestion(ApprovalKind.ACTION, "", "e", "pay", AT, action)
    return judge_action([rulebook(name)], question, read, draw_key="draw")


def is_approved(found: ActionRules) -> bool:
    return not found.asking and any(rule.can_approve and is_within_limit(rule) for rule in found.approving)


def is_within_limit(rule: ApprovingRule) -> bool:
    if rule.limit is None:
        return True
    return rule.limit_use is not None and rule.limit_use.amount <= (rule.limit.sum_max or Decimal(0))


@pytest.mark.prove
@pytest.mark.parametrize("name", RULE_FILES)
def test_nothing_is_approved_that_the_author_forbids(name: str) -> None:
    random, allows = chance("adversarial proposals"), RULE_FILES[name].allows
    outcomes = Counter[bool]()
    for proposal in proposals(random, PROPOSALS * max(1, effort().property_examples // 100)):
        approved = is_approved(judged(name, proposal))
        assert allows(proposal) or not approved, proposal
        outcomes[approved] += 1
    assert outcomes[True] > 0
    assert outcomes[False] > 0


@pytest.mark.parametrize("name", RULE_FILES)
def test_honest_proposals_are_approved_if_the_author_allows_them(name: str) -> None:
    """Otherwise a rule that approves nothing would pass."""
    found = [finished(honest(*each)) for each in HONEST]
    assert [is_approved(judged(name, each)) for each in found] == [RULE_FILES[name].allows(each) for each in found]
