"""The gallery: a page for each figure, with its picture, its code and what made its data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from experiments import stages
from experiments.site.docstrings import as_markdown, plain, sentence

KINDS = ("svg", "png")


def write(source: Path) -> None:
    """Write the pages of all figures, and what they show and link to, below ``source``."""
    folder = source / "gallery"
    folder.mkdir(parents=True)
    for name in stages.names():
        for kind in KINDS:
            shutil.copy(stages.RESULTS / "figures" / f"{name}.{kind}", folder / f"{name}.{kind}")
        shutil.copy(stages.data_path(name), folder / f"{name}.json")
        if stages.table_path(name).exists():
            shutil.copy(stages.table_path(name), folder / f"{name}.csv")
        shutil.copy(code(name), folder / f"{name}.py")
        (folder / f"{name}.md").write_text(page(name), encoding="utf-8")
    (folder / "index.md").write_text(index(), encoding="utf-8")


def page(name: str) -> str:
    """The page of one figure."""
    script = stages.script(name)
    stored = json.loads(stages.data_path(name).read_text(encoding="utf-8"))
    table = f", {{download}}`the table of its study <{name}.csv>`"
    table = table if stages.table_path(name).exists() else ""
    specification = json.dumps(stored["specification"], indent=1, ensure_ascii=False)
    return f"""---
orphan: true
---

# {heading(name)}

[All figures](index.md)

{as_markdown((script.__doc__ or "").strip())}

```{{image}} {name}.svg
:alt: {script.TITLE}
:class: figure
```

{plain(sentence(script.TITLE))} {{download}}`SVG <{name}.svg>`, {{download}}`PNG <{name}.png>`,
{{download}}`its data and what made them <{name}.json>`{table}.

Draw it again from its data, or play it again:

```console
$ python -m experiments draw {name}
$ python -m experiments simulate {name}
```

## What was played

```json
{specification}
```

## The code

`{code(name).relative_to(stages.ROOT).as_posix()}`:

```{{literalinclude}} {name}.py
:language: python
```
"""


def code(name: str) -> Path:
    """The file of a figure's script."""
    return stages.ROOT / "experiments" / "figures" / f"{name}.py"


def heading(name: str) -> str:
    """A figure's name as a heading."""
    words = name.replace("_", " ").replace("dp sgd", "DP-SGD").replace("kmeans", "k-means")
    return words[0].upper() + words[1:]


def index() -> str:
    """The page of all figures."""
    rows = "\n".join(
        f"""
[![{plain(stages.script(name).TITLE)}]({name}.png){{.thumbnail}}]({name}.md)

[**{heading(name)}**]({name}.md): {plain(stages.script(name).TITLE)}.
"""
        for name in stages.names()
    )
    return f"""# Gallery

Every figure is a function of its data, to the byte; the data are a function of a script and a seed.
Each page has the picture, the data, the specification and the code.

A shaded band is the interval about a measured curve. Where no trial got as far, a thin line marks
its upper end alone.

:::{{container}} gallery
{rows}
:::
"""
