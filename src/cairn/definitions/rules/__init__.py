"""Rules files: load and check them, and compile them for evaluation."""

from cairn.definitions.rules.checks import RulePeople
from cairn.definitions.rules.loader import LoadedRules, load
from cairn.definitions.rules.name_checks import KnownNames
from cairn.definitions.rules.published_schema import schema

__all__ = ["KnownNames", "LoadedRules", "RulePeople", "load", "schema"]
