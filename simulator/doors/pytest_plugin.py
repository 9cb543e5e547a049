"""The plugin that pytest loads: those that the shelves and other packages add, and nothing else.

An entry point of the group ``dpcompose.pytest`` names a module of pytest hooks and fixtures. One
whose code is gone is left out, so that a test suite which does not need it runs.
"""

from simulator.foundations.extensions import added, is_there

pytest_plugins = [point.module for point in added("pytest").values() if is_there(point.module)]
