"""Evidence from answers: columns of numbers, events chosen on some draws, bets on later ones.

Answers of any kind become columns (``columns``); events are thresholds on scores of columns
(``scores``, ``events``), chosen on some draws and counted on others; bets on events are evidence
against a null (``wagers``). Audits and tests of declared likelihoods use them.
"""
