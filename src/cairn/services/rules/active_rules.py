"""The active rules: the newest revision of each scope that a transaction sees, compiled once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from cairn.core.action_rules import ActionRules
from cairn.core.rule_judge import judge, judge_action
from cairn.core.rule_verdict import NO_VERDICT, EvaluatedRule, Judge, RuleQuestion, RuleVerdict
from cairn.core.rules import Rulebook, ScopedRulebook
from cairn.definitions import DefinitionError
from cairn.definitions.rules import load
from cairn.services.engine.plans import DefinitionCache
from cairn.services.rules.run_facts import RunFactsReader
from cairn.store import BoundedCache, Connection, Database, LoadedRun, NewArtifact, rules
from cairn.store.rules import ActiveRuleVersion

log = logging.getLogger(__name__)

UNREADABLE = Rulebook(is_readable=False)  # nothing is approved while rules can't be read


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
                versions = self._active_versions(connection, (loaded.facts.pipeline_id,))
            stopped = any(version.stopped for version in versions)
            books = self.rulebooks(connection, versions)
            if not books and not stopped:
                return NO_VERDICT
            facts = RunFactsReader(connection, self._plans, loaded, question, new_artifacts=artifacts)
            verdict = judge(books, question, facts.value_at, stopped=stopped)
            return replace(verdict, evaluated_rules=self._masked(verdict.evaluated_rules))

        return answer

    def judge_action(
        self,
        connection: Connection,
        loaded: LoadedRun,
        question: RuleQuestion,
        *,
        draw_key: str,
        path: Sequence[str] = (),
        artifacts: Iterable[NewArtifact] = (),
    ) -> ActionRules:
        """Judge an action of the run by the rules of every pipeline on the path, and by the global ones.

        Without a path, the run's own pipeline counts. The rules are locked until the transaction ends.
        """
        versions = self._active_versions(connection, path or (loaded.facts.pipeline_id,))
        stopped = any(version.stopped for version in versions)
        facts = RunFactsReader(connection, self._plans, loaded, question, new_artifacts=artifacts)
        books = self.rulebooks(connection, versions)
        found = judge_action(books, question, facts.value_at, draw_key=draw_key, stopped=stopped)
        return found._replace(evaluated=self._masked(found.evaluated))

    def _masked(self, evaluated: tuple[EvaluatedRule, ...]) -> tuple[EvaluatedRule, ...]:
        values = "\n".join(condition.actual for rule in evaluated for condition in rule.conditions)
        if self._mask(values) == values:
            return evaluated
        return tuple(
            rule._replace(conditions=tuple(c._replace(actual=self._mask(c.actual)) for c in rule.conditions))
            for rule in evaluated
        )

    def _active_versions(self, connection: Connection, pipelines: Sequence[str]) -> list[ActiveRuleVersion]:
        """The versions of the global rules, then of the pipelines in the given order."""
        is_read_only = connection.engine is self._database.read_engine  # rows can't be locked there
        versions: dict[str, ActiveRuleVersion] = {}
        for pipeline_id in pipelines:
            found = rules.active_versions(connection, pipeline_id, lock=not is_read_only)
            versions |= {version.scope: version for version in found}
        return list(versions.values())

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
        text = rules.text(connection, scope, revision)
        if text is None and revision > 0:
            log.error("Version %d of the %s rules is missing", revision, scope)
            return UNREADABLE
        try:
            return load(text or "").rulebook
        except DefinitionError as error:
            log.error("Can't read version %d of the %s rules: %s", revision, scope, error)  # noqa: TRY400
            return UNREADABLE
