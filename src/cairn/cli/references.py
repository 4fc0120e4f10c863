"""What a person calls a thing: by id, by the beginning of it, or by name (`Text report@v3/write_report`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Answer
from cairn.cli.client.responses import ProblemResponse
from cairn.cli.exit_codes import CommandFailed, ExitCode

if TYPE_CHECKING:
    from cairn.cli.client import Client

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_BEGINNING = re.compile(r"[0-9a-f]{4,8}|[0-9a-f]{8}-[0-9a-f-]*")
_VERSION = re.compile(r"(?P<name>.*)@(?:v?(?P<number>\d{1,9})|(?P<latest>latest))")
SHOWN = 8  # digits of an id in a list
LOOKED_AT = 1000  # runs among which one is looked for by the beginning of its id
OPENED = 30  # runs whose executions are looked through for the beginning of an id
Fits = Callable[[Answer], bool]


def short(id: str | None) -> str:
    return (id or "")[:SHOWN]


def version(run: Answer) -> str:
    return f"v{run['run_version']}" if run["run_version"] is not None else "test"


def title(run: Answer) -> str:
    """How a run is called: as it may be typed again."""
    return f"{run['pipeline_name']}@{version(run)}" if run["run_version"] is not None else str(run["run_id"])


class AmbiguousReference(CommandFailed):
    """Several fit, and they are listed."""

    def __init__(self, kind: str, name: str, candidates: Iterable[str]) -> None:
        super().__init__(ExitCode.NOT_FOUND, f"{name!r} may be any of these {kind}: say which.", candidates)


class UnknownReference(CommandFailed):
    def __init__(self, kind: str, name: str, hint: str = "") -> None:
        super().__init__(ExitCode.NOT_FOUND, f"There is no {kind} {name!r}.{' ' + hint if hint else ''}")


@dataclass(frozen=True, slots=True)
class ReferenceResolver:
    client: Client

    # ---- pipelines -----------------------------------------------------------------------------------
    async def pipeline(self, name: str, *, deleted: bool = False) -> Answer:
        """By id, beginning of an id, or name; a part of a name that only one has will do."""
        listed = (await self.client.list_pipelines(deleted=deleted))["items"]
        found = _pick("pipelines", name, listed, "pipeline_id", _pipeline_names, _line_of_pipeline)
        if found is None:
            hint = "`cairn pipelines --deleted` lists deleted ones." if not deleted else "It is not deleted."
            raise UnknownReference(
                "pipeline", name, hint if listed or deleted else "There are none yet: see `cairn apply`."
            )
        return found

    # ---- runs ----------------------------------------------------------------------------------------
    async def run(self, name: str) -> str:
        """The id of a run: by id, its beginning, `pipeline@v3`, or a pipeline for its newest one."""
        if _ID.fullmatch(name):
            return name
        if found := _VERSION.fullmatch(name):
            return await self._version(found["name"], found["number"])
        if _BEGINNING.fullmatch(name):
            listed = await self.client.list_runs(include_archived=True, include_tests=True, most=LOOKED_AT)
            begun = [run for run in listed["items"] if run["run_id"].startswith(name)]
            if len(begun) > 1:
                raise AmbiguousReference("runs", name, map(_line_of_run, begun))
            if begun:
                return begun[0]["run_id"]
        try:
            return await self._version(name, None)
        except UnknownReference:
            raise UnknownReference(
                "run", name, "Name it by id, or as in 'Text report@v3'; `cairn runs` lists them."
            ) from None

    async def _version(self, name: str, number: str | None) -> str:
        pipeline = await self.pipeline(name)
        listed = (await self.client.list_pipeline_runs(pipeline["pipeline_id"]))["items"]
        fit = [run for run in listed if number is None or run["run_version"] == int(number)]
        if not fit:
            wanted = f"v{number} of" if number else "of"
            raise CommandFailed(ExitCode.NOT_FOUND, f"There is no run {wanted} {pipeline['pipeline_name']!r}.")
        return fit[0]["run_id"]

    # ---- executions ----------------------------------------------------------------------------------
    async def execution(self, name: str, fits: Fits | None = None, wanted: str = "") -> Answer:
        """By id, its beginning, or run and key (`Text report@v3/write_report`).

        A run alone stands for the only execution of it that fits; `wanted` says what that would be.
        """
        found = await self.target(name, fits or _any)
        if "execution_id" in found:
            return found
        raise CommandFailed(ExitCode.REFUSED, f"Nothing in {name!r} {wanted or 'is there yet'}.")

    async def target(self, name: str, fits: Fits | None = None) -> Answer:
        """The execution that is named, or the only one of the named run that fits; else the run, by its id alone."""
        before, slash, key = name.rpartition("/")
        if slash:
            return await self.at(await self.run(before), key)
        if _ID.fullmatch(name) and (found := await self._with_id(name)):
            return found
        try:
            run_id = await self.run(name)
        except CommandFailed:
            if not _BEGINNING.fullmatch(name) or not (found := await self._begun(name)):
                raise
            return found
        if fits is None:
            return {"run_id": run_id}
        fit = [found for found in (await self.client.list_run_executions(run_id))["items"] if fits(found)]
        if len(fit) > 1:
            raise AmbiguousReference("executions", name, (f"{name}/{found['checkpoint_key']}" for found in fit))
        return await self.client.get_execution(fit[0]["execution_id"]) if fit else {"run_id": run_id}

    async def _with_id(self, id: str) -> Answer | None:
        try:
            return await self.client.get_execution(id)
        except ProblemResponse as problem:
            if problem.code is not ExitCode.NOT_FOUND:
                raise
            return None

    async def at(self, run_id: str, key: str) -> Answer:
        """The current execution of a checkpoint, by key, name or position (from 1)."""
        run = await self.client.get_run(run_id)
        trail: list[Answer] = run["checkpoints"]
        fit = [item for item in trail if key in (item["key"], item["name"], str(item["position"] + 1))]
        if not fit:
            known = ", ".join(item["key"] for item in trail)
            raise CommandFailed(ExitCode.NOT_FOUND, f"{title(run)} has no checkpoint {key!r}: it has {known}.")
        if fit[0]["execution_id"] is None:
            raise CommandFailed(ExitCode.NOT_FOUND, f"{fit[0]['name']} of {title(run)} has not been reached yet.")
        return await self.client.get_execution(fit[0]["execution_id"])

    async def _begun(self, name: str) -> Answer | None:
        """Among the newest runs; those that are open come first."""
        open_ones = await self.client.list_runs(status=("in_progress", "paused", "failed"), most=OPENED)
        newest = await self.client.list_runs(include_tests=True, most=OPENED)
        runs = {run["run_id"]: run for run in (*open_ones["items"], *newest["items"])}
        found: list[Answer] = []
        for run_id in runs:
            listed = (await self.client.list_run_executions(run_id))["items"]
            found += [each for each in listed if each["execution_id"].startswith(name)]
            if found:
                break
        if len(found) > 1:
            raise AmbiguousReference(
                "executions", name, (f"{e['execution_id']}  {e['checkpoint_name']}" for e in found)
            )
        return found[0] if found else None

    # ---- other things --------------------------------------------------------------------------------
    async def approval(self, name: str, fits: Fits | None = None) -> Answer:
        """A question by id or its beginning; or the one that an execution waits for."""
        if _BEGINNING.fullmatch(name):
            listed = (await self.client.list_approvals())["items"]
            begun = [found for found in listed if found["approval_id"].startswith(name)]
            if len(begun) > 1:
                raise AmbiguousReference(
                    "approvals", name, (f"{a['approval_id']}  {a['checkpoint_name']}" for a in begun)
                )
            if begun:
                return await self.client.get_approval(begun[0]["approval_id"])
        if _ID.fullmatch(name):
            try:
                return await self.client.get_approval(name)
            except ProblemResponse as problem:
                if problem.code is not ExitCode.NOT_FOUND:
                    raise
        asks: Fits = fits or _asks
        execution = await self.execution(name, asks, "waits for a decision")
        if execution["approval"] is None:
            raise CommandFailed(
                ExitCode.REFUSED, f"{execution['checkpoint_name']} does not ask anything: it is {state(execution)}."
            )
        return await self.client.get_approval(execution["approval"]["approval_id"])

    async def rollback(self, name: str) -> Answer:
        if _ID.fullmatch(name):
            return await self.client.get_rollback(name)
        listed = (await self.client.list_rollbacks())["items"]
        found = _pick("rollbacks", name, listed, "rollback_id", lambda _: (), _line_of_rollback)
        if found is None:
            raise UnknownReference("rollback", name, "`cairn rollbacks` lists them.")
        return found

    async def artifact(self, name: str) -> Answer:
        """By id, or as `run/name`, `run/key/name`; without a name, the only one."""
        if _ID.fullmatch(name):
            return await self.client.get_artifact(name)
        *before, last = name.split("/")
        if not before:
            return await self._artifact_begun(name)
        try:
            run_id, key = await self.run("/".join(before)), None
        except CommandFailed:
            if len(before) < 2:
                raise
            run_id, key = await self.run("/".join(before[:-1])), before[-1]
        execution_id = (await self.at(run_id, key))["execution_id"] if key else None
        listed = (await self.client.list_artifacts(run_id=run_id, execution_id=execution_id))["items"]
        fit = [found for found in listed if last in (found["artifact_name"], file_name(found))]
        if not fit:
            known = ", ".join(sorted({file_name(found) for found in listed})) or "none"
            raise UnknownReference("artifact", name, f"There are: {known}.")
        if len(fit) > 1:
            raise AmbiguousReference(
                "artifacts", name, (f"{a['artifact_record_id']}  {a['checkpoint_name']}" for a in fit)
            )
        return fit[0]

    async def _artifact_begun(self, name: str) -> Answer:
        listed = (await self.client.list_artifacts(most=LOOKED_AT))["items"]
        found = _pick("artifacts", name, listed, "artifact_record_id", lambda _: (), lambda a: a["file_path"])
        if found is None:
            raise UnknownReference("artifact", name, "Name it by id, or as in 'Text report@v1/report'.")
        return found

    async def checkpoint(self, name: str) -> tuple[Answer, Answer]:
        """The pipeline and the checkpoint that `pipeline/key` names; or the checkpoint's id."""
        if _ID.fullmatch(name):
            checkpoint = await self.client.get_checkpoint(name)
            return await self.client.get_pipeline(checkpoint["pipeline_id"]), checkpoint
        before, slash, key = name.rpartition("/")
        if not slash:
            raise CommandFailed(ExitCode.USAGE, f"Name a checkpoint as pipeline/key, such as 'Text report/{name}'.")
        found = await self.pipeline(before)
        pipeline = await self.client.get_pipeline(found["pipeline_id"])
        fit = [each for each in pipeline["checkpoints"] if key in (each["key"], each["checkpoint_name"])]
        if not fit:
            known = ", ".join(each["key"] for each in pipeline["checkpoints"])
            raise CommandFailed(
                ExitCode.NOT_FOUND, f"{pipeline['pipeline_name']} has no checkpoint {key!r}: it has {known}."
            )
        return pipeline, fit[0]


def _asks(execution: Answer) -> bool:
    return execution["approval"] is not None


def _any(_: Answer) -> bool:
    return True


def state(execution: Answer) -> str:
    """The status, and what is waited for."""
    waits = execution["waiting_on"]
    return f"{execution['status']} ({waits})" if waits else execution["status"]


def file_name(artifact: Answer) -> str:
    return f"{artifact['artifact_name']}.{artifact['format']}"


def _pick(
    kind: str,
    name: str,
    listed: Sequence[Answer],
    id_name: str,
    names: Callable[[Answer], tuple[str, ...]],
    line: Callable[[Answer], str],
) -> Answer | None:
    """The one that is called so: exactly first, then in other letters, then in part."""
    wanted = name.casefold()
    ways: tuple[Callable[[Any], bool], ...] = (
        lambda one: one[id_name] == name or name in names(one),
        lambda one: wanted in (each.casefold() for each in names(one)),
        lambda one: bool(_BEGINNING.fullmatch(name)) and one[id_name].startswith(name),
        lambda one: any(each.casefold().startswith(wanted) for each in names(one)),
    )
    for fits in ways:
        found = [one for one in listed if fits(one)]
        if len(found) > 1:
            raise AmbiguousReference(kind, name, map(line, found))
        if found:
            return found[0]
    return None


def _pipeline_names(pipeline: Answer) -> tuple[str, ...]:
    name: str = pipeline["pipeline_name"]
    return (name, re.sub(r"[^\w]+", "-", name).strip("-"))


def _line_of_pipeline(pipeline: Answer) -> str:
    return f"{pipeline['pipeline_id']}  {pipeline['pipeline_name']}"


def _line_of_run(run: Answer) -> str:
    return f"{run['run_id']}  {run['pipeline_name']} {version(run)}"


def _line_of_rollback(rollback: Answer) -> str:
    return f"{rollback['rollback_id']}  {rollback['created_at']}"
