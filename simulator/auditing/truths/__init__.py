"""True answers with certified ends, as data for accountants in any language.

:mod:`~simulator.auditing.truths.questions` lists the compositions and games, and answers them;
:mod:`~simulator.auditing.truths.documents` writes and reads ``results/truths/``;
:mod:`~simulator.auditing.truths.scoring` compares a table of claims with it.
"""
