"""The tools of agents, one module for each group of tools."""
