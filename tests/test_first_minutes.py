"""What `make first-minutes` follows is there: marked fences for each way, with three lines of code at most."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SAID = """
import first_minutes as tool
for way in tool.WAYS:
    fences = tool.fences_of(way)
    source = "\\n".join(one.text for one in fences if one.language == "python")
    installs = any(line.startswith("pip install") for one in fences for line in one.text.splitlines())
    print(way, installs, tool.lines_added(source), sep=", ")
others, ours = "import os\\nprint(os.name)", "import wisen\\nm = wisen.Memory('a')\\nm.close()\\nrun(memory=m)"
print(tool.lines_added(others), tool.lines_added(ours))
"""


def test_each_way_has_its_fences_on_a_page() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SAID],
        env={"PYTHONPATH": f"{ROOT / 'tools'}:{ROOT / 'tests' / 'support'}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    ways = {"codex": 0, "pydantic-ai": 3, "own loop": 3, "transcripts": 0}
    assert done.stdout.splitlines() == [*(f"{way}, True, {lines}" for way, lines in ways.items()), "0 3"], done.stderr
