"""The command line, and the place where the parts are put together. `main` is the program `horae`."""

import sys


def main() -> None:
    from horae.cli.program import run

    sys.exit(run(sys.argv[1:]))
