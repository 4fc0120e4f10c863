"""Reading a definition: everything that is wrong with it, each fault with its place."""

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
    definition: PipelineDefinition  # its parts have the ids that the document brought, or none
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
    """The definition that a document writes, in the full form or with short forms; DefinitionError with all faults."""
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
    """Everything that is wrong with a document, and what may be.

    Without `functions` any name of one is taken, without `servers` any server of tools, without `agents` any agent.
    """
    return _read(document, limits, KnownReferences(functions, servers, agents), positions)[1]


@dataclass(frozen=True, slots=True)
class KnownReferences:
    """What is there besides the document; None: whatever it names."""

    functions: Collection[str] | None = None
    servers: Collection[str] | None = None
    agents: Library | None = None


def _read(
    document: Value, limits: DefinitionLimits, known: KnownReferences, positions: SourceMap | None
) -> tuple[Value, list[Finding]]:
    """The full form, and everything that is found in it."""
    if too_large := list(check_size(document, limits)):
        return None, [_SourcePositions(document, SourcePointers(), positions).locate(finding) for finding in too_large]
    expansion = expand_tracked(document)
    marks = _SourcePositions(document, expansion.origins, positions)
    shape = list(check_shape(expansion.document))
    ill = {fault.finding.path for fault in shape}
    full = expansion.document if known.agents is None else with_schemas(expansion.document, known.agents)
    meant = _check_meaning(DefinitionOutline(full, ill), limits, known)
    found = [marks.with_position(finding, finding.path) for finding in expansion.findings]
    found += [marks.locate(fault.finding, fault.key) for fault in shape]
    found += [marks.locate(finding) for finding in meant if finding.path not in ill]  # told already, by its shape
    in_order = sorted(dict.fromkeys(found), key=lambda finding: (finding.line or 0, finding.column or 0))
    return expansion.document, in_order


def _check_meaning(outline: DefinitionOutline, limits: DefinitionLimits, known: KnownReferences) -> Iterator[Finding]:
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
    """Puts findings at their place in what the author wrote."""

    def __init__(self, document: Value, origins: SourcePointers, positions: SourceMap | None) -> None:
        self._document = document
        self._origins = origins
        self._positions = positions or SourceMap()

    def locate(self, finding: Finding, key: str | None = None) -> Finding:
        """Move a finding from the full form to the author's document."""
        source = self._origins.nearest_source(finding.path, self._document)
        about = source if key is None else self._origins.nearest_source(key, self._document)
        return self.with_position(replace(finding, path=source), about, of_key=key is not None)

    def with_position(self, finding: Finding, pointer: str, *, of_key: bool = False) -> Finding:
        mark = self._positions.key(pointer) if of_key else self._positions.value(pointer)
        return replace(finding, line=mark.line, column=mark.column) if mark else finding
