"""Kinds of pydantic-ai's Model: scripted, recorded, advised, metered, local."""
