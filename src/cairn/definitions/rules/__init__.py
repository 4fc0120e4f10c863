"""Rules files: load and check them, and compile them for evaluation."""

from cairn.definitions.rules.checks import RulePeople
from cairn.definitions.rules.coverage import Coverage, KnownOperation, approves_once, coverage
from cairn.definitions.rules.loader import LoadedRules, load
from cairn.definitions.rules.name_checks import KnownNames
from cairn.definitions.rules.published_schema import schema

__all__ = [
    "Coverage",
    "KnownNames",
    "KnownOperation",
    "LoadedRules",
    "RulePeople",
    "approves_once",
    "coverage",
    "load",
    "schema",
]
