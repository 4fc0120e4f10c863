"""Run agents: prompts, turns, discussions, tools and results.

Importing this package does not import the agent library, which takes a second. AgentRunner imports it on first use.
"""

from cairn.runners.agents.prompts import compose_first_turn

__all__ = ["compose_first_turn"]
