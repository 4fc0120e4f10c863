"""Agents: what they are told, how they speak and with what tools, and what has to come of it.

Nothing here imports the agent library before an agent works: that takes a second.
"""

from cairn.runners.agents.prompts import opening_text

__all__ = ["opening_text"]
