"""Measures what claims to be fast, side by side with the machine's own floor, in one run."""
