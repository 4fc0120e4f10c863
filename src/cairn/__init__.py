"""Cairn runs pipelines of agents, scripts and people, with a checkpoint at every step."""

__version__ = "0.1.0"
