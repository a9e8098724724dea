"""Writes the top-level domains that `wisen.screening.sinks` knows, from a copy of IANA's list (public domain).

Usage: python tools/top_level_domains.py TLDS_ALPHA_BY_DOMAIN_TXT

The tests' own environment has a copy: `hypothesis/vendor/tlds-alpha-by-domain.txt`.
"""

import sys
from pathlib import Path

_TO = Path(__file__).parent.parent / "src/wisen/screening/data/top_level_domains.txt"


def main() -> None:
    """Read the list named on the command line and write ours."""
    lines = Path(sys.argv[1]).read_text(encoding="ascii").splitlines()
    names = sorted(line.lower() for line in lines if line and not line.startswith("#"))
    told = next((line for line in lines if line.startswith("#")), "").strip("# ")
    _TO.write_text(f"# IANA, list of top-level domains, {told}\n" + " ".join(names) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
