"""The provenance of a result: versions, source revision, machine, time."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from simulator.foundations.children import printed

_PACKAGES = ("dpcompose", "numpy", "scipy", "numba", "joblib")
DRAWS_DEPEND_ON = ("dpcompose", "numpy", "scipy", "numba")
"""Packages whose other versions may draw, or round, differently."""

_SOURCE = Path(__file__).resolve().parents[2]
"""The folder of the package."""

HASH_SEED = os.environ.get("PYTHONHASHSEED") or "random"
"""The seed of the hashes of strings; if "random", sets of strings differ in order by process."""


def provenance() -> dict[str, Any]:
    """Return the provenance of a result made now, as plain JSON.

    ``revision`` is the commit of the source checkout, with ``+changes`` if tracked files of the
    package differ from it, or None if the package does not run from a checkout.
    """
    return {
        "versions": {"python": platform.python_version()} | _versions(),
        "revision": _revision(),
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count(),
        },
        "hash_seed": HASH_SEED,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


@lru_cache(maxsize=1)
def fingerprint_of_program() -> dict[str, str]:
    """Return the versions that two processes must share to draw the same numbers.

    They are of Python, whose byte code is sent between processes, and of the packages that draw,
    with a digest of this package's sources.
    """
    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    versions |= {package: _version(package) or "none" for package in DRAWS_DEPEND_ON}
    digest = hashlib.sha256()
    for path in sorted(_SOURCE.rglob("*.py")):
        digest.update(path.relative_to(_SOURCE).as_posix().encode() + b"\0" + path.read_bytes())
    return versions | {"sources": digest.hexdigest()[:12]}


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Return the differences of two fingerprints, as ``numpy 2.4.6 and 2.1.0``, or ""."""
    return ", ".join(
        f"{name} {one.get(name, 'none')} and {other.get(name, 'none')}"
        for name in sorted({*one, *other})
        if one.get(name) != other.get(name)
    )


def differing_versions(sessions: Iterable[Mapping[str, Any]]) -> str:
    """Return the versions that draws depend on and that sessions differ in, or ""."""
    versions = [session.get("versions", {}) for session in sessions]
    return ", ".join(
        f"{package} {' and '.join(found)}"
        for package in DRAWS_DEPEND_ON
        if len(found := sorted({str(each.get(package)) for each in versions})) > 1
    )


def _versions() -> dict[str, str | None]:
    return {package: _version(package) for package in _PACKAGES}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _revision() -> str | None:
    top = _git("rev-parse", "--show-toplevel")
    # the package may be installed within the checkout of another project
    if top is None or Path(top).resolve() != _SOURCE.parent:
        return None
    commit = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no", "--", str(_SOURCE))
    return f"{commit}+changes" if commit and changes else commit


def _git(*arguments: str) -> str | None:
    try:
        return printed(["git", "-C", str(_SOURCE), *arguments], seconds=10)
    except OSError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
