"""Makes `python -m wisen` the command `wisen`."""

from wisen.cli.main import main

main()
