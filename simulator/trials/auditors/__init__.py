"""Auditors on trial: lower bounds on epsilon in games whose epsilon is known exactly.

:mod:`~simulator.trials.auditors.games` has the games, and ``libraries/`` the adapters;
:mod:`~simulator.trials.auditors.trial` counts false bounds.
"""
