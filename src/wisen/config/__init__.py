"""Reads what users write down: tasks files."""
