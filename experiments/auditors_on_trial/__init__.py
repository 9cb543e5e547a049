"""Auditors on trial: lower bounds on epsilon in games whose epsilon is known exactly.

:mod:`~experiments.auditors_on_trial.games` has the games, and ``libraries/`` the adapters;
:mod:`~experiments.auditors_on_trial.trial` counts false bounds.
"""
