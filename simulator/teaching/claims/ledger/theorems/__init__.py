"""Checks of theorems that several sources state: one check per theorem, for each one's constants.

Nothing is registered here. A source's module registers a check for its own claim, with
``claim(..., given={...})(check)``.
"""
