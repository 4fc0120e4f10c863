"""The active rules: the newest revision of each scope that a transaction sees, compiled once."""

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

UNREADABLE = Rulebook(stopped=True)  # users decide everything while rules can't be read


class ActiveRules:
    def __init__(self, database: Database, plans: DefinitionCache, mask: Callable[[str], str] = str) -> None:
        """`mask` removes known secrets from values of conditions."""
        self._database = database
        self._plans = plans
        self._mask = mask
        self._compiled = BoundedCache[tuple[str, int], Rulebook]()

    def judge(self, connection: Connection, loaded: LoadedRun, artifacts: Iterable[NewArtifact] = (), /) -> Judge:
        """Return a function that judges questions in one transaction. The first question reads the rules."""
        versions: list[ActiveRuleVersion] | None = None

        def answer(question: RuleQuestion) -> RuleVerdict:
            nonlocal versions
            if versions is None:
                versions = self._active_versions(connection, loaded.facts.pipeline_id)
            stopped = any(version.stopped for version in versions)
            books = self.rulebooks(connection, versions)
            if not books and not stopped:
                return NO_VERDICT
            facts = RunFactsReader(connection, self._plans, loaded, question, new_artifacts=artifacts)
            return self._masked(judge(books, question, facts.value_at, stopped=stopped))

        return answer

    def _masked(self, verdict: RuleVerdict) -> RuleVerdict:
        values = "\n".join(condition.actual for rule in verdict.evaluated_rules for condition in rule.conditions)
        if self._mask(values) == values:
            return verdict
        masked = tuple(
            rule._replace(conditions=tuple(c._replace(actual=self._mask(c.actual)) for c in rule.conditions))
            for rule in verdict.evaluated_rules
        )
        return replace(verdict, evaluated_rules=masked)

    def _active_versions(self, connection: Connection, pipeline_id: str) -> list[ActiveRuleVersion]:
        is_read_only = connection.engine is self._database.read_engine  # rows can't be locked there
        return rules.active_versions(connection, pipeline_id, lock=not is_read_only)

    def rulebooks(self, connection: Connection, versions: Iterable[ActiveRuleVersion]) -> list[ScopedRulebook]:
        return [
            ScopedRulebook(version.scope, version.revision, self.rulebook(connection, version.scope, version.revision))
            for version in versions
            if version.revision > 0
        ]

    def rulebook(self, connection: Connection, scope: str, revision: int) -> Rulebook:
        """The compiled rules of a revision, which never changes."""
        return self._compiled.get((scope, revision), lambda: self._compile(connection, scope, revision))

    def _compile(self, connection: Connection, scope: str, revision: int) -> Rulebook:
        try:
            return load(rules.text(connection, scope, revision) or "").rulebook
        except DefinitionError as error:
            log.error("Can't read version %d of the %s rules: %s", revision, scope, error)  # noqa: TRY400
            return UNREADABLE
