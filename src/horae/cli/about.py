"""`horae version` and `horae completion`: the program about itself."""

import sys
from typing import Literal

from horae.cli.screen import print_json
from horae.release import own_version


def version(*, json: bool = False) -> None:
    """Print the version.

    Parameters
    ----------
    json
        Print JSON.
    """
    found = {"horae": own_version(), "python": sys.version.split()[0]}
    if json:
        print_json(found)
    else:
        print(f"horae {found['horae']} (Python {found['python']})")


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the completion script of a shell, e.g. for this session: source <(horae completion bash)

    Parameters
    ----------
    shell
        The shell.
    """
    from horae.cli.program import build

    print(build().generate_completion(prog_name="horae", shell=shell))
