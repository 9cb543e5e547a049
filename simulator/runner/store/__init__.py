"""Results on disk, with what made them.

A run is a folder: ``specification.json`` (what was asked, its identity, how far it goes, and on
what it ran) and ``blocks.log``, to which every finished block is appended and flushed, so that
whatever interrupts a run costs it at most the blocks in flight.
"""

from simulator.foundations.files import write_json
from simulator.runner.store.folder import RunStore
from simulator.runner.store.manifest import specification_id
from simulator.runner.store.provenance import provenance

__all__ = ["RunStore", "provenance", "specification_id", "write_json"]
