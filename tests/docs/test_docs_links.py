"""Links between the pages, and to their headings."""

import re
from pathlib import Path

from .pages import PAGES, prose


def test_links_lead_somewhere() -> None:
    broken = [
        f"{page.name}: {link}"
        for page in PAGES
        for link in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text())
        if not leads_somewhere(page, link)
    ]
    assert broken == []


def leads_somewhere(page: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = page.parent / file if file else page
    if not target.exists():
        return False
    headings = re.findall(r"^#+ (.+)$", prose(target), re.MULTILINE) if anchor else []
    return not anchor or anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
