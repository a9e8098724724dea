"""Reads what users write down: task files and settings."""
