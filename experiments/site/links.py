"""Links and pictures of built pages: what is missing, and what would need a network."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}
"""Addresses that a browser loads without a click."""


class Page(HTMLParser):
    """The addresses that a page refers to, and the places in it that can be referred to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str, str]] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add the addresses and places of one tag."""
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.places.add(value)
            elif value and name in ("href", "src"):
                self.links.append((tag, name, value))


def broken(folder: Path) -> list[str]:
    """Every link of the pages in ``folder`` that leads nowhere, in words."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    return sorted(
        f"{path.relative_to(folder)}: {why}"
        for path, page in pages.items()
        for tag, name, address in page.links
        if (why := fault(path, tag, name, address, pages))
    )


def fault(path: Path, tag: str, name: str, address: str, pages: Mapping[Path, Page]) -> str | None:
    """What is wrong with one link of the page at ``path``, or None."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        outside = (tag, name) in LOADED and parts.scheme != "data"
        return f"loads {address}" if outside else None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return f"no file {address}"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
        return f"no place {address}"
    return None
