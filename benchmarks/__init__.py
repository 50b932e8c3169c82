"""Measurements as commands: `python -m benchmarks --help`. They report ratios, medians and spread."""
