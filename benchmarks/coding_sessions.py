"""Says whether a coding agent repeats fewer failures with wisen's hooks, and whether its lessons are judged rightly.

Simulated sessions run real commands in a git repository; `coding_kinds.toml` has the kinds of failures that come back.
What happens goes as a coding agent's payloads to what `wisen install codex` installs, with all defaults: to the
resident process's own `CodingMemory`, without the socket between. Transcripts have the form of Codex's.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from coding_arms import ARMS, ArmName, Came, plans, run
from coding_tables import by_kind, costs, failures, lessons, over_time, verdicts
from coding_world import kinds, wrong_exits
from report import machine, write_docs

_DOCS = Path(__file__).parents[1] / "docs" / "measured" / "coding-agents.md"
_SESSIONS, _QUICK = 1_500, 36


def main() -> None:
    """Run all arms and report."""
    given = _arguments()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        if wrong := [*wrong_exits(Path(folder) / "exits")]:
            sys.exit(f"these commands don't end as coding_kinds.toml says: {'; '.join(wrong)}")
        came = asyncio.run(_arms(given, Path(folder)))
    tables = [_setting(given), failures(came)]
    tables += [] if given.tries else [verdicts(came["wisen"], kinds()), costs(came)]
    more = [over_time(came), by_kind(came, kinds()), lessons(came["wisen"], kinds())] if given.details else []
    print(*tables, *more, sep="\n\n", flush=True)
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    if given.write_docs:
        write_docs(_DOCS, "\n\n".join(tables), begin="<!-- figures: coding_sessions.py -->")


async def _arms(given: argparse.Namespace, folder: Path) -> dict[ArmName, Came]:
    planned = plans(given.sessions, given.seed, looks=not given.tries)
    came = dict[ArmName, Came]()
    for arm in ARMS:
        came[arm] = await run(arm, planned, given.seed, folder / arm)
    return came


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=0, metavar="N", help=f"{_SESSIONS} by default")
    parser.add_argument("--seed", type=int, default=1, help="another one gives another order and luck (%(default)s)")
    parser.add_argument("--quick", action="store_true", help=f"{_QUICK} sessions, to see that it works")
    parser.add_argument(
        "--tries",
        action="store_true",
        help="the first call of a program is the one that may fail, and the agent tries on until it passes",
    )
    parser.add_argument("--details", action="store_true", help="print parts of the stream, kinds, and each lesson too")
    parser.add_argument("--write-docs", action="store_true", help=f"put the tables into {_DOCS.name}")
    given = parser.parse_args()
    if given.write_docs and (given.tries or given.seed != 1):
        parser.error("the page shows seed 1, without --tries")
    given.sessions = given.sessions or (_QUICK if given.quick else _SESSIONS)
    return given


def _setting(given: argparse.Namespace) -> str:
    known, more = machine(), " --tries" if given.tries else ""
    return (
        f"{known['processor']}, {known['cores']} cores, Python {known['python']}; {given.sessions:,} sessions in each "
        f"arm, seed {given.seed}. Command: `python benchmarks/coding_sessions.py --sessions {given.sessions} "
        f"--seed {given.seed}{more}`."
    )


if __name__ == "__main__":
    main()
