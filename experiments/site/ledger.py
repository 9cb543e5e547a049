"""The ledger on the site: a page for each claim, from the registry and results/claims.json."""

from __future__ import annotations

import inspect
import shlex
import shutil
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from experiments.site.claim_pictures import look
from experiments.site.claim_pictures import name as picture_name
from experiments.site.committed import committed
from experiments.site.docstrings import as_markdown, plain, sentence
from experiments.site.played import Played
from simulator.teaching.claims import Claim, Verdict, all_claims


def write(source: Path, played: Mapping[str, Played], pictures: Path) -> None:
    """Write the ledger's pages below ``source``, with those of ``pictures`` that they show."""
    folder = source / "ledger"
    folder.mkdir(parents=True)
    results = committed()
    listed = all_claims()
    of = {id: each for each in played.values() for id in each.sweeps}
    for before, claim, after in zip([None, *listed], listed, [*listed[1:], None]):
        here = of.get(claim.id)
        for sweep in here.sweeps[claim.id] if here else ():
            shutil.copy(pictures / picture_name(claim.id, sweep), folder)
        text = page(claim, results[claim.id], here, (before, after))
        (folder / f"{claim.id}.md").write_text(text, encoding="utf-8")
    for source_key, claims in groupby(all_claims(), key=lambda claim: claim.source.key):
        text = source_page(list(claims), results)
        (folder / f"source-{source_key}.md").write_text(text, encoding="utf-8")
    (folder / "index.md").write_text(index(results), encoding="utf-8")


def badge(result: Mapping[str, Any]) -> str:
    """A verdict as HTML, in its colour."""
    kind = fault(result)
    words = result["verdict"] + (f" ({kind})" if kind not in ("", "substance") else "")
    return f'<span class="verdict {look(result["verdict"])}">{words}</span>'


def fault(result: Mapping[str, Any]) -> str:
    """The kind of complaint, or "" where the ledger has none."""
    return result.get("fault") or ""


def page(
    claim: Claim,
    result: Mapping[str, Any],
    played: Played | None,
    beside: tuple[Claim | None, Claim | None] = (None, None),
) -> str:
    """The page of one claim; ``beside`` are the claims before and after it in the ledger."""
    complaint = claim.expected.is_complaint
    rows = [
        ("Verdict", badge(result)),
        ("Printed", plain(result["printed"]) if complaint else ""),
        ("Right", plain(result["right"]) if complaint else ""),
        ("Measured", plain(measured(result))),
        ("Slack", slack(result)),
        ("How", how(result)),
        ("Note", plain(result["note"])),
    ]
    table = "\n".join(f"| {name} | {text} |" for name, text in rows if text)
    return f"""---
orphan: true
---

# {claim.id}

{ways(claim, beside)}

{plain(claim.source.cite)}, {plain(claim.place)}:

> {plain(claim.statement)}

| | |
|---|---|
{table}

## How it is checked

{as_markdown(inspect.getdoc(claim.function) or "")}

{picture(claim, played)}
{knobs(claim)}
## The check

```python
{inspect.getsource(claim.function).rstrip()}
```

`{claim.function.__module__.replace(".", "/")}.py`
"""


def ways(claim: Claim, beside: tuple[Claim | None, Claim | None]) -> str:
    """Links to the page of the source and to the claims beside this one.

    The pages of claims are in no table of contents: Sphinx would write all of it on every page.
    """
    before, after = (each and f"[{each.id}]({each.id}.md)" for each in beside)
    source = f"[{plain(claim.source.cite)}](source-{claim.source.key}.md)"
    return " · ".join(
        [f"all claims of {source}"]
        + ([f"before: {before}"] if before else [])
        + ([f"next: {after}"] if after else [])
    )


def measured(result: Mapping[str, Any]) -> str:
    """The measured quantity as text; an estimate with its interval."""
    found = result["measured"]
    if isinstance(found, str):
        return found
    return (
        f"{found['value']:.6g} [{found['lower']:.6g}, {found['upper']:.6g}] "
        f"({100 * found['confidence']:g}%, {found['method']})"
    )


def slack(result: Mapping[str, Any]) -> str:
    """The claimed over the attained quantity, as text."""
    found = result["slack"]
    return "" if found is None else f"{found:.4g} (claimed over attained; 1 is tight)"


def how(result: Mapping[str, Any]) -> str:
    """The method of the check and its false-alarm probability, as text."""
    words = {"exact": "computed", "simulation": "simulated", "both": "computed and simulated"}
    alarm = result["false_alarm"]
    chance = "" if alarm is None else f"; blames a true claim with probability {alarm:.1g} at most"
    return words[result["method"]] + ("; never blames a true claim" if alarm == 0.0 else chance)


def picture(claim: Claim, played: Played | None) -> str:
    """The claim's pictures, how to read them, and which code they are of."""
    if played is None:
        return ""
    shown = " ".join(
        f"![what becomes of the claim as {sweep.knob} is turned]"
        f"({picture_name(claim.id, sweep)}){{.knob}}"
        for sweep in played.sweeps[claim.id]
    )
    return f"""{shown}

Each mark is this check with one knob turned and the others left: a circle holds, a square holds but
is not tight, a diamond does not follow, a cross fails. The ring is the claim as printed; at values
that are missing the check has no answer, or none in time. {origin(played)}
"""


def origin(played: Played) -> str:
    """Which code the marks were played with, and whether it is that of today."""
    revision, day = played.provenance["revision"], played.provenance["time"][:10]
    of = f", revision `{revision[:10]}`" if revision else ""
    if played.is_of_this_code:
        return f"Played on {day}{of}; what the check calls is the same today."
    return f"**Played on {day}{of}, and what the check calls has changed since:** run `make knobs`."


def knobs(claim: Claim) -> str:
    """The claim's knobs, and how to turn them."""
    if not claim.parameters:
        return f"\n```console\n$ dpcompose claims {claim.id}\n```\n"
    rows = "\n".join(
        f"| `{name}` | `{value!r}` | {f'`{claim.wrong[name]!r}`' if name in claim.wrong else ''} |"
        for name, value in claim.parameters.items()
    )
    name, value = example(claim)
    setting = shlex.quote(f"{name}={value}")
    turn = f"\n$ dpcompose claims {claim.id} --set {setting}"
    why = "" if claim.wrong else f"\n{plain(sentence(claim.cannot_be_wrong))}\n"
    altered = (
        "The altered claim is wrong on purpose: the check must come to another verdict.\n"
        if claim.wrong
        else ""
    )
    return f"""
## Its knobs

| knob | as printed | altered |
|---|---|---|
{rows}
{why}
{altered}Check the claim as it stands, then turn a knob:

```console
$ dpcompose claims {claim.id}{turn}
```

```python
from simulator.teaching.claims import find

print(find("{claim.id}").check({name}={value!r}))
```
"""


def example(claim: Claim) -> tuple[str, Any]:
    """A knob, and a value that can be written down: one of the altered claim if there is one."""
    listed = [*claim.wrong.items(), *claim.parameters.items()]
    return next((entry for entry in listed if isinstance(entry[1], int | float | str)), listed[0])


def source_page(claims: Sequence[Claim], results: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of one source: its claims, as they stand there."""
    return f"""# {plain(claims[0].source.cite)}

{table(claims, results)}
"""


def table(claims: Sequence[Claim], results: Mapping[str, Mapping[str, Any]]) -> str:
    """Claims in a table."""
    rows = "\n".join(
        f"| [{claim.id}]({claim.id}.md) | {plain(claim.place)} | {plain(claim.statement)} "
        f"| {badge(results[claim.id])} |"
        for claim in claims
    )
    return f"| claim | place | statement | verdict |\n|---|---|---|---|\n{rows}"


def index(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The ledger's first page: what it is, what was found wrong, and the sources."""
    claims = all_claims()
    keys = list(dict.fromkeys(claim.source.key for claim in claims))
    tree = "\n".join(f"source-{key}" for key in keys)
    minor = ("slip", "as transcribed")
    found = [c for c in claims if c.expected.is_complaint and fault(results[c.id]) not in minor]
    counted: dict[str, int] = {}
    for each in results.values():
        counted[each["verdict"]] = counted.get(each["verdict"], 0) + 1
    verdicts = "\n".join(
        f"| {badge({'verdict': verdict})} | {counted[verdict]} |"
        for verdict in Verdict
        if verdict in counted
    )
    return f"""# The ledger

{len(claims)} claims of {len(keys)} lecture notes, each put to a test that can fail. A page for
each: the statement, the verdict, how it was checked, a picture, and knobs that you can turn.

| verdict | claims |
|---|---|
{verdicts}

*Slack* is what is claimed over what is attained: 1 is tight. A *slip* is wrong to the letter only:
the intended statement is clear, and true. *As transcribed*: a slip that may be one of the
transcription. *In one reading*: the print leaves several open, and this one is false.

```{{toctree}}
:maxdepth: 1

{tree}
```

## Found wrong or unsupported

{table(found, results)}
"""
