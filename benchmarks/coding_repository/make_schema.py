"""Writes the file that the report reads."""

from pathlib import Path

Path("schema.json").write_text("{}", encoding="utf-8")
print("schema.json is written")
