"""Checks of a definition, by topic. Each check reads the full form, other parts of which can be invalid."""
