"""Logs, metrics and health of whatever runs wisen, and where it listens."""
