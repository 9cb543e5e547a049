"""True answers with certified ends, as data for accountants in any language.

:mod:`~simulator.trials.truths.questions` lists the compositions and games, and answers them;
:mod:`~simulator.trials.truths.documents` writes and reads ``results/truths/``;
:mod:`~simulator.trials.truths.scoring` compares a table of claims with it.
"""
