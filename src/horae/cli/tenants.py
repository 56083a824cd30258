"""`horae tenant`: the teams that share the installation."""

from datetime import UTC, datetime

from cyclopts import App

from horae.cli.access import HERE, Access
from horae.cli.screen import console, print_json, print_lines, table
from horae.cli.text import relative
from horae.wire.access import TenantCreate

app = App(name="tenant", help="Create, weigh and list tenants.")


@app.command
def create(name: str, /, *, weight: float = 1.0, access: Access = HERE) -> None:
    """Create a tenant.

    Parameters
    ----------
    name
        The tenant's name.
    weight
        Its share of the workers, beside the weights of the others.
    """
    with access.client() as client:
        made = client.create_tenant(TenantCreate(name=name, weight=weight))
    if access.json:
        print_json(made)
    else:
        print(made.id, made.name)


@app.command
def change(name: str, /, *, weight: float, access: Access = HERE) -> None:
    """Change a tenant's weight, effective at once.

    Parameters
    ----------
    name
        The tenant's name.
    weight
        Its share of the workers, beside the weights of the others.
    """
    with access.client() as client:
        changed = client.change_tenant(name, weight)
    if access.json:
        print_json(changed)
    else:
        print(changed.name, f"{changed.weight:g}")


@app.command(name="list")
def list_tenants(*, access: Access = HERE) -> None:
    """List the tenants."""
    with access.client() as client:
        found = client.tenants().items
    if access.json:
        print_lines(found)
        return
    now = datetime.now(UTC)
    rows = ((str(t.id), t.name, f"{t.weight:g}", relative(t.created_at, now)) for t in found)
    console().print(table(("id", "name", "weight", "made"), rows))
