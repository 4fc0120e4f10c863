"""Resolves references to pipelines, runs and other items: an id, the start of an id, or a name.

A run is referred to as `Text report@v3`, an execution as `Text report@v3/write_report`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.cli.client import JsonObject
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.exit_codes import CommandFailed, ExitCode

if TYPE_CHECKING:
    from cairn.cli.client import Client

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID_PREFIX = re.compile(r"[0-9a-f]{4,8}|[0-9a-f]{8}-[0-9a-f-]*")
_VERSION = re.compile(r"(?P<name>.*)@(?:v?(?P<number>\d{1,9})|(?P<latest>latest))")
SHORT_ID_LENGTH = 8
APPROVAL_STATUSES = (
    "pending",
    "approved",
    "auto_approved",
    "rejected",
    "revision_requested",
    "timeout",
    "withdrawn",
)
MAX_SEARCHED = 1000  # newest items to search for an id prefix
MAX_SEARCHED_RUNS = 30  # runs whose executions are searched for an id prefix
Predicate = Callable[[JsonObject], bool]


def short(id: str | None) -> str:
    return (id or "")[:SHORT_ID_LENGTH]


def version(run: JsonObject) -> str:
    return f"v{run['run_version']}" if run["run_version"] is not None else "test"


def title(run: JsonObject) -> str:
    """A reference to the run that commands accept."""
    return f"{run['pipeline_name']}@{version(run)}" if run["run_version"] is not None else str(run["run_id"])


class AmbiguousReference(CommandFailed):
    """Lists the candidates that match."""

    def __init__(self, kind: str, name: str, candidates: Iterable[str]) -> None:
        message = f"{name!r} matches several {kind}. Use the id of one of these:"
        super().__init__(ExitCode.NOT_FOUND, message, candidates)


class UnknownReference(CommandFailed):
    def __init__(self, kind: str, name: str, hint: str = "") -> None:
        super().__init__(ExitCode.NOT_FOUND, f"{kind.capitalize()} {name!r} not found.{' ' + hint if hint else ''}")


@dataclass(frozen=True, slots=True)
class ReferenceResolver:
    client: Client

    # ---- pipelines -----------------------------------------------------------------------------------
    async def pipeline(self, name: str, *, deleted: bool = False) -> JsonObject:
        """Find a pipeline by id, start of its id, or name. The start of a name is enough if it is unique."""
        pipelines = (await self.client.list_pipelines(deleted=deleted))["items"]
        match = _find_match("pipelines", name, pipelines, "pipeline_id", _pipeline_names, _pipeline_line)
        if match is None:
            if deleted:
                hint = "`cairn pipelines --deleted` lists deleted pipelines."
            elif pipelines:
                hint = "Run `cairn pipelines`, or `cairn pipelines --deleted` for deleted ones."
            else:
                hint = "There are no pipelines yet. Create one with `cairn apply`."
            raise UnknownReference("deleted pipeline" if deleted else "pipeline", name, hint)
        return match

    # ---- runs ----------------------------------------------------------------------------------------
    async def run(self, name: str) -> str:
        """The id of a run, by id, start of its id, `pipeline@v3`, or a pipeline for its newest run."""
        if _ID.fullmatch(name):
            return name
        if version_match := _VERSION.fullmatch(name):
            return await self._run_version(version_match["name"], version_match["number"])
        if _ID_PREFIX.fullmatch(name):
            page = await self.client.list_runs(include_archived=True, include_tests=True, limit=MAX_SEARCHED)
            matches = [run for run in page["items"] if run["run_id"].startswith(name)]
            if len(matches) > 1:
                raise AmbiguousReference("runs", name, map(_run_line, matches))
            if matches:
                return matches[0]["run_id"]
        try:
            return await self._run_version(name, None)
        except UnknownReference:
            raise UnknownReference(
                "run", name, "Use an id or a name such as 'Text report@v3'. `cairn runs` lists runs."
            ) from None

    async def _run_version(self, name: str, number: str | None) -> str:
        pipeline = await self.pipeline(name)
        runs = (await self.client.list_pipeline_runs(pipeline["pipeline_id"]))["items"]
        matches = [run for run in runs if number is None or run["run_version"] == int(number)]
        if not matches:
            missing = "has no runs" if number is None else f"has no run v{number}"
            raise CommandFailed(ExitCode.NOT_FOUND, f"{pipeline['pipeline_name']!r} {missing}.")
        return matches[0]["run_id"]

    # ---- executions ----------------------------------------------------------------------------------
    async def execution(self, name: str, predicate: Predicate | None = None, requirement: str = "") -> JsonObject:
        """Find an execution by id, start of its id, or run and key (`Text report@v3/write_report`).

        The name of a run refers to its only execution that satisfies the predicate. `requirement` describes the
        predicate in the error message: "is waiting for a form".
        """
        target = await self.target(name, predicate or _any)
        if "execution_id" in target:
            return target
        message = f"No execution of {name!r} {requirement}." if requirement else f"{name!r} has no execution yet."
        raise CommandFailed(ExitCode.FAILED, message)

    async def target(self, name: str, predicate: Predicate | None = None) -> JsonObject:
        """Find an execution or a run. A run is returned as `{"run_id": …}` only.

        With a predicate, the name of a run refers to its only execution that satisfies the predicate.
        """
        run_name, slash, key = name.rpartition("/")
        if slash:
            return await self.current_execution(await self.run(run_name), key)
        if _ID.fullmatch(name) and (execution := await self._execution_by_id(name)):
            return execution
        try:
            run_id = await self.run(name)
        except CommandFailed:
            if not _ID_PREFIX.fullmatch(name) or not (execution := await self._execution_by_prefix(name)):
                raise
            return execution
        if predicate is None:
            return {"run_id": run_id}
        executions = (await self.client.list_run_executions(run_id))["items"]
        matches = [execution for execution in executions if predicate(execution)]
        if len(matches) > 1:
            raise AmbiguousReference("executions", name, (f"{name}/{match['checkpoint_key']}" for match in matches))
        return await self.client.get_execution(matches[0]["execution_id"]) if matches else {"run_id": run_id}

    async def current_execution(self, run_id: str, key: str) -> JsonObject:
        """The current execution of a checkpoint, by key, name or position (from 1)."""
        run = await self.client.get_run(run_id)
        checkpoint = find_checkpoint(run, key)
        if checkpoint["execution_id"] is None:
            raise CommandFailed(ExitCode.NOT_FOUND, f"{title(run)} has not reached {checkpoint['name']} yet.")
        return await self.client.get_execution(checkpoint["execution_id"])

    async def _execution_by_id(self, id: str) -> JsonObject | None:
        try:
            return await self.client.get_execution(id)
        except ProblemResponse as problem:
            if problem.code is not ExitCode.NOT_FOUND:
                raise
            return None

    async def _execution_by_prefix(self, prefix: str) -> JsonObject | None:
        """Search the newest runs, open ones first."""
        open_runs = await self.client.list_runs(status=("in_progress", "paused", "failed"), limit=MAX_SEARCHED_RUNS)
        newest = await self.client.list_runs(include_tests=True, limit=MAX_SEARCHED_RUNS)
        runs = {run["run_id"]: run for run in (*open_runs["items"], *newest["items"])}
        for run_id in runs:
            executions = (await self.client.list_run_executions(run_id))["items"]
            matches = [execution for execution in executions if execution["execution_id"].startswith(prefix)]
            if len(matches) > 1:
                raise AmbiguousReference(
                    "executions", prefix, (f"{match['execution_id']}  {match['checkpoint_name']}" for match in matches)
                )
            if matches:
                return matches[0]
        return None

    # ---- approvals, rollbacks, artifacts, checkpoints --------------------------------------------------
    async def approval(self, name: str, predicate: Predicate | None = None) -> JsonObject:
        """Find an approval by id, start of its id, or the execution that waits for it."""
        if _ID_PREFIX.fullmatch(name):
            approvals = (await self.client.list_approvals())["items"]
            matches = [approval for approval in approvals if approval["approval_id"].startswith(name)]
            if len(matches) > 1:
                raise AmbiguousReference(
                    "approvals", name, (f"{match['approval_id']}  {match['checkpoint_name']}" for match in matches)
                )
            if matches:
                return await self.client.get_approval(matches[0]["approval_id"])
        if _ID.fullmatch(name):
            try:
                return await self.client.get_approval(name)
            except ProblemResponse as problem:
                if problem.code is not ExitCode.NOT_FOUND:
                    raise
        execution = await self.execution(name, predicate or _has_approval, "is waiting for a decision")
        if execution["approval"] is None:
            raise CommandFailed(
                ExitCode.FAILED,
                f"{execution['checkpoint_name']} is not waiting for a decision. Its status is {state(execution)}.",
            )
        return await self.client.get_approval(execution["approval"]["approval_id"])

    async def action(self, name: str) -> JsonObject:
        """Find an action by id or start of its id."""
        if _ID_PREFIX.fullmatch(name) and not _ID.fullmatch(name):
            actions = (await self.client.list_actions(limit=MAX_SEARCHED))["items"]
            matches = [action for action in actions if action["action_id"].startswith(name)]
            if len(matches) > 1:
                lines = (f"{match['action_id']}  {match['summary']}" for match in matches)
                raise AmbiguousReference("actions", name, lines)
            if matches:
                return await self.client.get_action(matches[0]["action_id"])
        if not _ID.fullmatch(name):
            raise UnknownReference("action", name, "`cairn actions list` lists actions.")
        return await self.client.get_action(name)

    async def latest_approval(self, name: str) -> JsonObject:
        """Find an approval like `approval`. If none is pending, return the newest one of the execution or run."""
        try:
            return await self.approval(name)
        except CommandFailed as error:
            if error.code is not ExitCode.FAILED:
                raise
            target = await self.target(name)
            approvals = (await self.client.list_approvals(status=APPROVAL_STATUSES, run_id=target["run_id"]))["items"]
            matches = [
                approval for approval in approvals if target.get("execution_id") in (None, approval["execution_id"])
            ]
            if not matches:
                raise
        newest = max(matches, key=lambda approval: approval["requested_at"])
        return await self.client.get_approval(newest["approval_id"])

    async def rollback(self, name: str) -> JsonObject:
        if _ID.fullmatch(name):
            return await self.client.get_rollback(name)
        rollbacks = (await self.client.list_rollbacks())["items"]
        match = _find_match("rollbacks", name, rollbacks, "rollback_id", lambda _: (), _rollback_line)
        if match is None:
            raise UnknownReference("rollback", name, "`cairn rollbacks` lists rollbacks.")
        return match

    async def artifact(self, name: str) -> JsonObject:
        """Find an artifact by id, start of its id, `run/name` or `run/key/name`."""
        if _ID.fullmatch(name):
            return await self.client.get_artifact(name)
        *parents, artifact_name = name.split("/")
        if not parents:
            return await self._artifact_by_prefix(name)
        try:
            run_id, key = await self.run("/".join(parents)), None
        except CommandFailed:
            if len(parents) < 2:
                raise
            run_id, key = await self.run("/".join(parents[:-1])), parents[-1]
        execution_id = (await self.current_execution(run_id, key))["execution_id"] if key else None
        artifacts = (await self.client.list_artifacts(run_id=run_id, execution_id=execution_id))["items"]
        matches = [
            artifact for artifact in artifacts if artifact_name in (artifact["artifact_name"], file_name(artifact))
        ]
        if not matches:
            names = ", ".join(sorted({file_name(artifact) for artifact in artifacts}))
            raise UnknownReference("artifact", name, f"Available: {names}." if names else "The run has no artifacts.")
        if len(matches) > 1:
            raise AmbiguousReference(
                "artifacts", name, (f"{match['artifact_record_id']}  {match['checkpoint_name']}" for match in matches)
            )
        return matches[0]

    async def _artifact_by_prefix(self, name: str) -> JsonObject:
        artifacts = (await self.client.list_artifacts(limit=MAX_SEARCHED))["items"]
        match = _find_match("artifacts", name, artifacts, "artifact_record_id", lambda _: (), lambda a: a["file_path"])
        if match is None:
            raise UnknownReference("artifact", name, "Use an id or a name such as 'Text report@v1/report'.")
        return match

    async def checkpoint(self, name: str) -> tuple[JsonObject, JsonObject]:
        """Find a pipeline and its checkpoint, by `pipeline/key` or the checkpoint's id."""
        if _ID.fullmatch(name):
            checkpoint = await self.client.get_checkpoint(name)
            return await self.client.get_pipeline(checkpoint["pipeline_id"]), checkpoint
        pipeline_name, slash, key = name.rpartition("/")
        if not slash:
            raise CommandFailed(
                ExitCode.USAGE, f"{name!r} names no pipeline. Use pipeline/key, such as 'Text report/{name}'."
            )
        summary = await self.pipeline(pipeline_name)
        pipeline = await self.client.get_pipeline(summary["pipeline_id"])
        matches = [
            checkpoint
            for checkpoint in pipeline["checkpoints"]
            if key in (checkpoint["key"], checkpoint["checkpoint_name"])
        ]
        if not matches:
            raise _no_checkpoint(pipeline["pipeline_name"], key, pipeline["checkpoints"])
        return pipeline, matches[0]


def find_checkpoint(run: JsonObject, key: str) -> JsonObject:
    """The checkpoint of a run by key, name or position (from 1)."""
    for checkpoint in run["checkpoints"]:
        if key in (checkpoint["key"], checkpoint["name"], str(checkpoint["position"] + 1)):
            return checkpoint
    raise _no_checkpoint(title(run), key, run["checkpoints"])


def _no_checkpoint(owner: str, key: str, checkpoints: Sequence[JsonObject]) -> CommandFailed:
    keys = ", ".join(checkpoint["key"] for checkpoint in checkpoints)
    return CommandFailed(ExitCode.NOT_FOUND, f"{owner} has no checkpoint {key!r}. Available: {keys}.")


def _has_approval(execution: JsonObject) -> bool:
    return execution["approval"] is not None


def _any(_: JsonObject) -> bool:
    return True


def state(execution: JsonObject) -> str:
    """The status and the wait reason."""
    reason = execution["waiting_on"]
    return f"{execution['status']} ({reason})" if reason else execution["status"]


def file_name(artifact: JsonObject) -> str:
    return f"{artifact['artifact_name']}.{artifact['format']}"


def _find_match(
    kind: str,
    name: str,
    items: Sequence[JsonObject],
    id_field: str,
    names: Callable[[JsonObject], tuple[str, ...]],
    line: Callable[[JsonObject], str],
) -> JsonObject | None:
    """The item with this id or name. Tries an exact match, then ignores case, then accepts a prefix."""
    folded = name.casefold()
    predicates: tuple[Callable[[Any], bool], ...] = (
        lambda item: item[id_field] == name or name in names(item),
        lambda item: folded in (known.casefold() for known in names(item)),
        lambda item: bool(_ID_PREFIX.fullmatch(name)) and item[id_field].startswith(name),
        lambda item: any(known.casefold().startswith(folded) for known in names(item)),
    )
    for predicate in predicates:
        matches = [item for item in items if predicate(item)]
        if len(matches) > 1:
            raise AmbiguousReference(kind, name, map(line, matches))
        if matches:
            return matches[0]
    return None


def _pipeline_names(pipeline: JsonObject) -> tuple[str, ...]:
    name: str = pipeline["pipeline_name"]
    return (name, re.sub(r"[^\w]+", "-", name).strip("-"))


def _pipeline_line(pipeline: JsonObject) -> str:
    return f"{pipeline['pipeline_id']}  {pipeline['pipeline_name']}"


def _run_line(run: JsonObject) -> str:
    return f"{run['run_id']}  {run['pipeline_name']} {version(run)}"


def _rollback_line(rollback: JsonObject) -> str:
    return f"{rollback['rollback_id']}  {rollback['created_at']}"
