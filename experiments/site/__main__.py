"""``make site``: lay the sources out, and build the pages. Nothing is played."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from experiments import stages
from experiments.site import played
from experiments.site.assemble import HERE, assemble
from simulator.foundations.errors import DpcomposeError, InvalidInput
from simulator.runner.progress import on_a_terminal

BUILD = stages.ROOT / "build" / "site"
MATHJAX = BUILD / "scripts" / "node_modules" / "mathjax" / "es5" / "tex-svg.js"


def build(folder: Path = BUILD) -> Path:
    """Build the site below ``folder``; return its first page. A warning of Sphinx is an error.

    Raises InvalidInput where something that the build needs is missing.
    """
    try:
        import myst_nb  # noqa: F401
        import sphinx  # noqa: F401
    except ImportError as missing:
        raise InvalidInput(f"{missing.name} is missing; run: pip install '.[site]'") from None
    if not MATHJAX.exists():
        raise InvalidInput(f"no {MATHJAX}, which renders formulas; run: make site")
    print("site        the pages are laid out, and their pictures drawn", file=sys.stderr)
    with on_a_terminal():
        source = assemble(folder, played.load(), MATHJAX)
    print("site        Sphinx reads and writes the pages, a minute or two", file=sys.stderr)
    # on a terminal Sphinx shows how far it is
    command = [
        sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going",
        *([] if sys.stderr.isatty() else ["--quiet"]),
        "--write-all", "--define", f"html_extra_path={folder / 'extra'}", "--jobs", "2",
        "--conf-dir", str(HERE), "--doctree-dir", str(folder / "doctrees"),
        str(source), str(folder / "html"),
    ]  # fmt: skip
    if subprocess.run(command, cwd=stages.ROOT, check=False).returncode:
        raise DpcomposeError("Sphinx found fault with the pages above")
    return folder / "html" / "index.html"


def main() -> int:
    """Build, and print where the first page is."""
    start = time.perf_counter()
    try:
        page = build()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except DpcomposeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InvalidInput) else 1
    print(f"site        {page} ({time.perf_counter() - start:.0f} s)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
