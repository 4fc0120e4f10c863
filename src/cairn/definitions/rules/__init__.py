"""Rules as documents: read, checked with the place of each fault, compiled for the judge."""

from cairn.definitions.rules.checks import RulePeople
from cairn.definitions.rules.loader import LoadedRules, load
from cairn.definitions.rules.published_schema import schema

__all__ = ["LoadedRules", "RulePeople", "load", "schema"]
