"""Benchmarks. Each figure is measured next to a baseline in the same run, because machines are noisy."""
