"""Script files of pipelines: written, read and removed one by one; each change is a revision of the definition."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from uuid import UUID

from cairn.core.errors import CommandRefused
from cairn.core.states import ExecutionMode
from cairn.definitions import Finding, PipelineDefinition
from cairn.definitions.findings import warning
from cairn.definitions.script_files import MAX_BYTES, ScriptFile, normalize_path, path_error
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.services.actors import Actor
from cairn.services.errors import InvalidInput, TooLarge
from cairn.services.pipelines import edits
from cairn.services.pipelines import records as rows
from cairn.services.pipelines.definition_writer import DefinitionSaveRequest, DefinitionWriter, SavedDefinition
from cairn.services.pipelines.views import Script, ScriptPage
from cairn.store import Connection, Database, blobs, pipelines
from cairn.store.errors import NotFound

LOOKED_AT = 256 * 1024  # bytes of a script that is read for faults when it is saved


class Scripts:
    def __init__(self, database: Database, saving: DefinitionWriter) -> None:
        self._database = database
        self._saving = saving

    def list(self, pipeline_id: str) -> ScriptPage:
        definition, _ = self._database.read(lambda c: _newest(c, pipeline_id))
        return ScriptPage(items=[_view(definition, path) for path in sorted(definition.scripts)], next_cursor=None)

    def read(self, pipeline_id: str, path: str) -> tuple[bytes, int]:
        """The text as bytes, and the revision of the definition."""

        def look(connection: Connection) -> tuple[bytes, int]:
            definition, revision = _newest(connection, pipeline_id)
            return blobs.read(connection, _find(definition, path).checksum), revision

        return self._database.read(look)

    async def write(
        self,
        pipeline_id: str,
        path: str,
        content: bytes,
        *,
        if_match: int | None = None,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> tuple[Script, SavedDefinition]:
        """Put a script there; the same text changes nothing."""
        if message := path_error(path):
            raise InvalidInput([("/path", f"{message[0].upper()}{message[1:]}.")])
        if len(content) > MAX_BYTES:
            raise TooLarge(MAX_BYTES, "The script")
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise InvalidInput([("", f"A script is text in UTF-8; this breaks off at byte {error.start:,}.")]) from None
        plain = normalize_path(path)
        wanted = DefinitionSaveRequest(
            edits.put_script(plain, text), f"script {plain} written", actor, command_id, if_match
        )
        saved = await self._saving.save(pipeline_id, wanted)
        definition, _ = await self._database.aread(lambda c: _newest(c, pipeline_id))
        return _view(definition, plain), saved

    async def remove(
        self,
        pipeline_id: str,
        path: str,
        *,
        if_match: int | None = None,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> SavedDefinition:
        plain = normalize_path(path)
        definition, _ = await self._database.aread(lambda c: _newest(c, pipeline_id))
        _find(definition, plain)
        if users := used_by(definition, plain):
            raise CommandRefused(
                f"{plain} is the script of {', '.join(users)}: without it they cannot be carried out.",
                ("name another script there first",),
            )
        wanted = DefinitionSaveRequest(
            edits.remove_script(plain), f"script {plain} removed", actor, command_id, if_match
        )
        return await self._saving.save(pipeline_id, wanted)


def _newest(connection: Connection, pipeline_id: str) -> tuple[PipelineDefinition, int]:
    revision = pipelines.newest_revision(connection, pipeline_id)
    return rows.newest(connection, pipeline_id), revision


def _find(definition: PipelineDefinition, path: str) -> ScriptFile:
    found = definition.scripts.get(normalize_path(path))
    if found is None:
        raise NotFound("script", normalize_path(path))
    return found


def _view(definition: PipelineDefinition, path: str) -> Script:
    file = _find(definition, path)
    return Script(path=path, checksum=file.checksum, size_bytes=file.size_bytes, used_by=used_by(definition, path))


def used_by(definition: PipelineDefinition, path: str) -> list[str]:
    return [c.key for c in definition.checkpoints if c.script_file == path]


# ---- what is told when a definition is saved -------------------------------------------------------
def doubts(definition: PipelineDefinition, rules: ScriptPolicy, texts: Mapping[str, str]) -> Iterator[Finding]:
    """What would keep a script from being carried out, as far as it can be told now."""
    for position, path in definition.missing_scripts:
        place = f"/checkpoints/{position}/execution/script_config/script_path"
        yield warning(place, f"There is no script {path!r} yet: write it before a run is started.")
    for position, checkpoint in enumerate(definition.checkpoints):
        config = checkpoint.execution.script_config
        if config is None or checkpoint.execution.mode is not ExecutionMode.SCRIPT:
            continue
        place = f"/checkpoints/{position}/execution/script_config"
        for message in rules.objections(config):
            yield warning(place, message)
        source = config.script_source or texts.get(checkpoint.script_file or "")
        if source is not None and config.python is None and (told := fault_of_source(source, config.entry_function)):
            yield warning(place, told)


def fault_of_source(source: str, entry_function: str) -> str | None:
    """Why a script cannot be called, as far as its text says."""
    if len(source) > LOOKED_AT:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"The script cannot be read{line}: {said}."
    functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    is_plain = all(isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.Expr | ast.Import) for n in tree.body)
    if is_plain and entry_function not in functions:
        return f"The script has no function {entry_function!r}; it has {', '.join(functions) or 'none'}."
    return None
