"""Runs on disk, with their provenance.

A run is a folder with ``specification.json`` (the specification, its identity, the numbers of
trials and views, and where it ran) and ``blocks.log``, to which every finished block is appended
and flushed: an interruption loses at most the blocks in flight.
"""

from simulator.foundations.files import write_json
from simulator.runner.store.folder import RunStore
from simulator.runner.store.manifest import specification_id
from simulator.runner.store.provenance import provenance

__all__ = ["RunStore", "provenance", "specification_id", "write_json"]
