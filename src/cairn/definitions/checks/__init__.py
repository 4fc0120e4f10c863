"""Checks of a definition, by topic. Each reads the full form, other parts of which may be invalid."""
