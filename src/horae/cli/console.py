"""`horae console`: the way into the console, without typing a key into a browser."""

from typing import Annotated

from cyclopts import Parameter

from horae.cli.access import HERE, Access
from horae.cli.screen import note, print_json
from horae.cli.text import relative


def console(*, open_it: Annotated[bool, Parameter(name="--open")] = False, access: Access = HERE) -> None:
    """Print an address that signs a browser in to the console with your key. It works once, for a quarter of an hour.

    Parameters
    ----------
    open_it
        Open it in the browser of this machine.
    """
    with access.client() as client:
        ticket = client.console_ticket()
        address = client.connection.url.rstrip("/") + ticket.path
    if access.json:
        print_json({"address": address, "expires_at": ticket.expires_at})
    else:
        print(address)
        note(f"it signs in with your key, once, and ends {relative(ticket.expires_at)}")
    if open_it:
        _open(address)


def _open(address: str) -> None:
    import webbrowser

    from horae.model.errors import SetupError

    if not webbrowser.open(address):
        raise SetupError("there is no browser to open on this machine; open the address above in yours")
