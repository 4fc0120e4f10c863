"""Rules as documents: read, checked with the place of each fault, compiled for the judge."""

from cairn.definitions.rules.checks import Wanted
from cairn.definitions.rules.loader import Rules, load
from cairn.definitions.rules.published_schema import schema

__all__ = ["Rules", "Wanted", "load", "schema"]
