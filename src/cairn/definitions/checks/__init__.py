"""Checks of a definition, by topic. They read the full form, in which other parts can be invalid."""
