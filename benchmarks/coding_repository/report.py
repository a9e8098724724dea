"""A report that reads a generated file."""

import sys
from pathlib import Path

if "--help" in sys.argv:
    if Path(".busy").exists():
        sys.exit("the cache is locked by another process")
    print("report.py prints the month")
elif Path("schema.json").exists():
    print("42 rows")
else:
    sys.exit("FileNotFoundError: schema.json")
