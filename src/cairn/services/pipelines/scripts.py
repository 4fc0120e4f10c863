"""Read, write and remove the script files of pipelines. Each change adds a revision of the definition."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from uuid import UUID

from cairn.core.errors import CommandRefused
from cairn.core.states import ExecutionMode
from cairn.definitions import Finding, PipelineDefinition
from cairn.definitions.findings import warning
from cairn.definitions.script_files import MAX_BYTES, ScriptFile, normalize_path, path_error
from cairn.definitions.script_parameters import empty_form_reason
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.services.actors import Actor
from cairn.services.errors import InvalidInput, TooLarge
from cairn.services.pipelines import edits, records
from cairn.services.pipelines.definition_writer import DefinitionSaveRequest, DefinitionWriter, SavedDefinition
from cairn.services.pipelines.views import Script, ScriptPage
from cairn.store import Connection, Database, blobs, pipelines
from cairn.store.errors import NotFound

MAX_CHECKED = 256 * 1024  # characters; larger scripts are not checked when they are saved


class Scripts:
    def __init__(self, database: Database, writer: DefinitionWriter) -> None:
        self._database = database
        self._writer = writer

    def list(self, pipeline_id: str) -> ScriptPage:
        definition, _ = self._database.read(lambda c: _newest(c, pipeline_id))
        return ScriptPage(items=[_view(definition, path) for path in sorted(definition.scripts)], next_cursor=None)

    def read(self, pipeline_id: str, path: str) -> tuple[bytes, int]:
        """Return the script as bytes, and the revision of the definition."""

        def read(connection: Connection) -> tuple[bytes, int]:
            definition, revision = _newest(connection, pipeline_id)
            return blobs.read(connection, _find(definition, path).checksum), revision

        return self._database.read(read)

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
        """Create or replace a script. Writing the same text again adds no revision."""
        if message := path_error(path):
            raise InvalidInput([("/path", f"{message[0].upper()}{message[1:]}.")])
        if len(content) > MAX_BYTES:
            raise TooLarge(MAX_BYTES, "The script")
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(
                [("", f"A script must be UTF-8 text. The byte at position {error.start:,} is invalid.")]
            ) from None
        normalized = normalize_path(path)
        request = DefinitionSaveRequest(
            edits.write_script(normalized, text), f"script {normalized} written", actor, command_id, if_match
        )
        saved = await self._writer.save(pipeline_id, request)
        definition, _ = await self._database.aread(lambda c: _newest(c, pipeline_id))
        return _view(definition, normalized), saved

    async def remove(
        self,
        pipeline_id: str,
        path: str,
        *,
        if_match: int | None = None,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> SavedDefinition:
        normalized = normalize_path(path)
        definition, _ = await self._database.aread(lambda c: _newest(c, pipeline_id))
        _find(definition, normalized)
        if users := used_by(definition, normalized):
            raise CommandRefused(
                f"{normalized} is used by {', '.join(users)}. You can't remove it.",
                ("choose another script for these checkpoints first",),
            )
        request = DefinitionSaveRequest(
            edits.remove_script(normalized), f"script {normalized} removed", actor, command_id, if_match
        )
        return await self._writer.save(pipeline_id, request)


def _newest(connection: Connection, pipeline_id: str) -> tuple[PipelineDefinition, int]:
    revision = pipelines.newest_revision(connection, pipeline_id)
    return records.newest_definition(connection, pipeline_id), revision


def _find(definition: PipelineDefinition, path: str) -> ScriptFile:
    file = definition.scripts.get(normalize_path(path))
    if file is None:
        raise NotFound("script", normalize_path(path))
    return file


def _view(definition: PipelineDefinition, path: str) -> Script:
    file = _find(definition, path)
    return Script(path=path, checksum=file.checksum, size_bytes=file.size_bytes, used_by=used_by(definition, path))


def used_by(definition: PipelineDefinition, path: str) -> list[str]:
    return [c.key for c in definition.checkpoints if c.script_file == path]


# Warnings
def script_warnings(
    definition: PipelineDefinition, policy: ScriptPolicy, texts: Mapping[str, str]
) -> Iterator[Finding]:
    """Problems that would prevent a script from running and can be found when the definition is saved."""
    for position, path in definition.missing_scripts:
        pointer = f"/checkpoints/{position}/execution/script_config/script_path"
        yield warning(pointer, f"The script {path!r} does not exist. Create it before you start a run.")
    for position, checkpoint in enumerate(definition.checkpoints):
        config = checkpoint.execution.script_config
        if config is None or checkpoint.execution.mode is not ExecutionMode.SCRIPT:
            continue
        pointer = f"/checkpoints/{position}/execution/script_config"
        for message in policy.violations(config):
            yield warning(pointer, message)
        source = config.script_source or texts.get(checkpoint.script_file or "")
        message = source_error(source, config.entry_function) if source is not None and config.python is None else None
        if message is not None:
            yield warning(pointer, message)
        elif source is not None and (reason := empty_form_reason(config, source)) is not None:
            yield warning(pointer, f"requires_user_input shows an empty form: {reason}, or add parameters_schema.")


def source_error(source: str, entry_function: str) -> str | None:
    """Why the script can't be called. None if no error is found."""
    if len(source) > MAX_CHECKED:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"The script is not valid Python{line}: {reason}."
    functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    is_plain = all(isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.Expr | ast.Import) for n in tree.body)
    if is_plain and entry_function not in functions:
        return f"The script has no function {entry_function!r}. Its functions: {', '.join(functions) or 'none'}."
    return None
