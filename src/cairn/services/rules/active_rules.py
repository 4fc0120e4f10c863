"""The rules that are in force: the newest of each scope as a transaction sees it, compiled once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

from cairn.core.rule_verdict import NO_VERDICT, Judge, RuleQuestion, RuleVerdict
from cairn.core.rules import Rulebook, ScopedRulebook, judge
from cairn.definitions import DefinitionError
from cairn.definitions.rules import load
from cairn.services.engine.plans import DefinitionCache
from cairn.services.rules.run_facts import RunFactsReader
from cairn.store import BoundedCache, Connection, Database, LoadedRun, NewArtifact, rules
from cairn.store.rules import ActiveRuleVersion

log = logging.getLogger(__name__)

UNREADABLE = Rulebook(stopped=True)  # people are asked as long as nobody can tell what the rules say


class ActiveRules:
    def __init__(self, database: Database, plans: DefinitionCache, mask: Callable[[str], str] = str) -> None:
        self._database = database
        self._plans = plans
        self._mask = mask  # takes known secrets out of what is shown of values
        self._compiled = BoundedCache[tuple[str, int], Rulebook]()

    def judge(self, connection: Connection, loaded: LoadedRun, brought: Iterable[NewArtifact] = (), /) -> Judge:
        """Judges the questions of one transaction. Nothing is read before the first of them."""
        heads: list[ActiveRuleVersion] | None = None

        def judged(question: RuleQuestion) -> RuleVerdict:
            nonlocal heads
            if heads is None:
                heads = self._heads(connection, loaded.facts.pipeline_id)
            stopped = any(head.stopped for head in heads)
            books = self.books(connection, heads)
            if not books and not stopped:
                return NO_VERDICT
            data = RunFactsReader(connection, self._plans, loaded, question, brought=brought)
            return self._masked(judge(books, question, data.look, stopped=stopped))

        return judged

    def _masked(self, verdict: RuleVerdict) -> RuleVerdict:
        shown = "\n".join(condition.actual for one in verdict.evaluated_rules for condition in one.conditions)
        if self._mask(shown) == shown:
            return verdict
        considered = tuple(
            one._replace(conditions=tuple(c._replace(actual=self._mask(c.actual)) for c in one.conditions))
            for one in verdict.evaluated_rules
        )
        return replace(verdict, evaluated_rules=considered)

    def _heads(self, connection: Connection, pipeline_id: str) -> list[ActiveRuleVersion]:
        is_reading = connection.engine is self._database.read_engine  # where nothing can be held
        return rules.heads(connection, pipeline_id, hold=not is_reading)

    def books(self, connection: Connection, heads: Iterable[ActiveRuleVersion]) -> list[ScopedRulebook]:
        return [
            ScopedRulebook(head.scope, head.revision, self.book(connection, head.scope, head.revision))
            for head in heads
            if head.revision > 0
        ]

    def book(self, connection: Connection, scope: str, revision: int) -> Rulebook:
        """The rules of a scope as they were at a revision, which never changes."""
        return self._compiled.get((scope, revision), lambda: self._compile(connection, scope, revision))

    def _compile(self, connection: Connection, scope: str, revision: int) -> Rulebook:
        try:
            return load(rules.text(connection, scope, revision) or "").rulebook
        except DefinitionError as error:
            log.error("revision %d of the %s rules cannot be read: %s", revision, scope, error)  # noqa: TRY400
            return UNREADABLE
