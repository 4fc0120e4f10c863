"""A contract for import-linter: packages that import nothing but themselves and the standard library."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class StdlibOnly(Contract):
    modules: Sequence[str] = fields.ListField(subfield=fields.StringField())  # pyright: ignore[reportAssignmentType] - a descriptor

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002 - the signature that import-linter calls
        violations = [
            (importer, imported)
            for package in self.modules
            for importer in sorted({package, *graph.find_descendants(package)})
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if not _is_allowed(imported, package)
        ]
        return ContractCheck(kept=not violations, metadata={"violations": violations})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported in check.metadata["violations"]:
            output.print_error(f"{importer} imports {imported}", bold=False)


def _is_allowed(imported: str, package: str) -> bool:
    own_names = (package, package.rpartition(".")[2])  # `processes/child` also runs as the top-level package `child`
    is_own = any(imported == name or imported.startswith(f"{name}.") for name in own_names)
    return is_own or imported.partition(".")[0] in sys.stdlib_module_names
