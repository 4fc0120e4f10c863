"""Load a definition, or report all findings with their location."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from cairn.definitions.authoring.expansion import expand_tracked
from cairn.definitions.authoring.source_map import SourcePointers
from cairn.definitions.checks.content import check_functions, check_limits, check_schemas, check_size
from cairn.definitions.checks.flow import check_flow
from cairn.definitions.checks.graph import check_graph
from cairn.definitions.checks.library import check_library, with_schemas
from cairn.definitions.checks.names import check_names
from cairn.definitions.checks.outputs import check_outputs
from cairn.definitions.checks.scripts import check_scripts
from cairn.definitions.checks.shape import check_shape
from cairn.definitions.checks.tools import check_tools
from cairn.definitions.findings import DefinitionError, DefinitionLimits, Finding, errors
from cairn.definitions.library_agents import Library
from cairn.definitions.model import PipelineDefinition
from cairn.definitions.outline import DefinitionOutline
from cairn.documents import SourceMap, Value

LIMITS = DefinitionLimits()


@dataclass(frozen=True, slots=True)
class LoadedDefinition:
    definition: PipelineDefinition  # with the ids of the document, if it has any
    warnings: tuple[Finding, ...] = ()


def load(
    document: Value,
    *,
    limits: DefinitionLimits = LIMITS,
    functions: Collection[str] | None = None,
    servers: Collection[str] | None = None,
    agents: Library | None = None,
    positions: SourceMap | None = None,
) -> LoadedDefinition:
    """Load a document in the full form or with short forms. Raises DefinitionError with all findings."""
    expansion, findings = _read(document, limits, KnownReferences(functions, servers, agents), positions)
    if errors(findings) or not isinstance(expansion, dict):
        raise DefinitionError(findings)
    return LoadedDefinition(PipelineDefinition.parse(expansion), tuple(findings))


def check(
    document: Value,
    *,
    limits: DefinitionLimits = LIMITS,
    functions: Collection[str] | None = None,
    servers: Collection[str] | None = None,
    agents: Library | None = None,
    positions: SourceMap | None = None,
) -> list[Finding]:
    """Return all findings in a document.

    Without `functions`, `servers` or `agents`, any name of a function, tool server or library agent is valid.
    """
    return _read(document, limits, KnownReferences(functions, servers, agents), positions)[1]


@dataclass(frozen=True, slots=True)
class KnownReferences:
    """The functions, tool servers and agents that a document can refer to. None: any name."""

    functions: Collection[str] | None = None
    servers: Collection[str] | None = None
    agents: Library | None = None


def _read(
    document: Value, limits: DefinitionLimits, known: KnownReferences, positions: SourceMap | None
) -> tuple[Value, list[Finding]]:
    """Return the full form and the findings."""
    if too_large := list(check_size(document, limits)):
        return None, [_SourcePositions(document, SourcePointers(), positions).locate(finding) for finding in too_large]
    expansion = expand_tracked(document)
    source = _SourcePositions(document, expansion.origins, positions)
    shape_errors = list(check_shape(expansion.document))
    invalid_paths = {error.finding.path for error in shape_errors}
    full = expansion.document if known.agents is None else with_schemas(expansion.document, known.agents)
    semantic_findings = _check_semantics(DefinitionOutline(full, invalid_paths), limits, known)
    found = [source.with_position(finding, finding.path) for finding in expansion.findings]
    found += [source.locate(error.finding, error.key) for error in shape_errors]
    found += [source.locate(finding) for finding in semantic_findings if finding.path not in invalid_paths]
    ordered = sorted(dict.fromkeys(found), key=lambda finding: (finding.line or 0, finding.column or 0))
    return expansion.document, ordered


def _check_semantics(outline: DefinitionOutline, limits: DefinitionLimits, known: KnownReferences) -> Iterator[Finding]:
    yield from check_names(outline)
    yield from check_graph(outline)
    yield from check_outputs(outline)
    yield from check_schemas(outline)
    yield from check_flow(outline)
    yield from check_limits(outline, limits)
    yield from check_scripts(outline)
    if known.functions is not None:
        yield from check_functions(outline, known.functions)
    if known.servers is not None:
        yield from check_tools(outline, known.servers)
    if known.agents is not None:
        yield from check_library(outline, known.agents)


class _SourcePositions:
    """Locates findings in the author's document."""

    def __init__(self, document: Value, origins: SourcePointers, positions: SourceMap | None) -> None:
        self._document = document
        self._origins = origins
        self._positions = positions or SourceMap()

    def locate(self, finding: Finding, key: str | None = None) -> Finding:
        """Translate the path of a finding from the full form to the author's document, and add its position."""
        source = self._origins.nearest_source(finding.path, self._document)
        pointer = source if key is None else self._origins.nearest_source(key, self._document)
        return self.with_position(replace(finding, path=source), pointer, of_key=key is not None)

    def with_position(self, finding: Finding, pointer: str, *, of_key: bool = False) -> Finding:
        position = self._positions.key(pointer) if of_key else self._positions.value(pointer)
        return replace(finding, line=position.line, column=position.column) if position else finding
