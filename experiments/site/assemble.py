"""Lay all sources of the site out in one folder: written pages, notebooks, and made pages."""

from __future__ import annotations

import filecmp
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from experiments.site import claim_pictures, gallery, ledger, lemmas, reference
from experiments.site.played import Played

HERE = Path(__file__).parent
PICTURE = re.compile(r"!\[([^\]]*)\]\((?:\.\./)+results/figures/(\w+)\.\w+\)")
SHOWN = re.compile(r"(?<!!)\[([^\]]+)\]\((?:\.\./)+results/figures/(\w+)\.\w+\)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?:\.\./){4}[^)]*\)")
NOTEBOOKS = HERE.parent / "notebooks"


def assemble(folder: Path, played: Mapping[str, Played], mathjax: Path) -> Path:
    """Write every source into ``folder/source``, and return it.

    A file that comes out the same is left as it was, so that only changed pages are built again.
    ``played`` has the numbers of the claims' pictures; ``mathjax`` is the file of scripts that
    renders formulas.
    """
    made, source = folder / "source.part", folder / "source"
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(HERE / "pages", made)
    for page in made.rglob("*.md"):
        page.write_text(within_the_site(page.read_text(encoding="utf-8")), encoding="utf-8")
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        shutil.copy(notebook, made / "class" / notebook.name)
    gallery.write(made)
    lemmas.write(made)
    reference.write(made)
    sweeps = {id: found for each in played.values() for id, found in each.sweeps.items()}
    ledger.write(made, played, claim_pictures.save_all(sweeps, folder))
    replace(source, made)
    scripts = folder / "extra" / "_static" / "mathjax"
    scripts.mkdir(parents=True, exist_ok=True)
    shutil.copy(mathjax, scripts / mathjax.name)
    return source


def within_the_site(text: str) -> str:
    """A page with links to figures that lead to the gallery, and none to other files."""
    text = PICTURE.sub(r"![\1](../gallery/\2.svg)", text)
    text = SHOWN.sub(r"[\1](../gallery/\2.md)", text)
    return LINK.sub(r"\1", text)


def replace(old: Path, new: Path) -> None:
    """Make the folder ``old`` what ``new`` is, and remove ``new``; equal files keep their time."""
    for path in [each for each in old.rglob("*") if each.is_file()]:
        other = new / path.relative_to(old)
        if not other.is_file():
            path.unlink()
        elif filecmp.cmp(path, other, shallow=False):
            other.unlink()
    for path in [each for each in new.rglob("*") if each.is_file()]:
        target = old / path.relative_to(new)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
    shutil.rmtree(new)
