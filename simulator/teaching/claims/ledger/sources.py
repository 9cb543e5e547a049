"""The documents whose claims are checked, in the order of the ledger."""

from __future__ import annotations

from simulator.teaching.claims.model import Source

SOURCES = (
    Source("roth2011", "Roth 2011, Lecture 4"),
    Source("group-notes", "Lecture notes on group privacy and composition"),
    Source("composition-note", "Note on composition theorems (in Chinese)"),
    Source("zhang2020", "Zhang 2020, USTC lecture 7"),
    Source("chapter5", "Properties of DP, chapter 5 (draft of 27 September 2021)"),
    Source("chua2024", "Chua and others 2024, How Private are DP-SGD Implementations?"),
    Source("annamalai2024", "Annamalai and others 2024, To Shuffle or not to Shuffle"),
    Source("chan2011", "Chan, Shi and Song 2011, Private and Continual Release of Statistics"),
    Source("vadhan2021", "Vadhan and Wang 2021, Concurrent Composition"),
    Source("vadhan2023", "Vadhan and Zhang 2023, Concurrent Composition Theorems"),
    Source(
        "henzinger2024",
        "Henzinger, Safavi and Vadhan 2024, Concurrent Composition, Continual Mechanisms",
    ),
    Source("liu2019", "Liu and Talwar 2019, Private Selection from Private Candidates"),
    Source("papernot2022", "Papernot and Steinke 2022, Hyperparameter Tuning with Renyi DP"),
    Source("vadhan2017", "Vadhan 2017, The Complexity of Differential Privacy"),
    Source("bun2016", "Bun and Steinke 2016, Concentrated Differential Privacy"),
    Source("dong2022", "Dong, Roth and Su 2022, Gaussian Differential Privacy"),
    Source("song2017", "Song, Wang and Chaudhuri 2017, Pufferfish Privacy Mechanisms"),
    Source("kifer2011", "Kifer and Machanavajjhala 2011, No Free Lunch in Data Privacy"),
    Source("feldman2018", "Feldman and others 2018, Privacy Amplification by Iteration"),
    Source("feldman2021", "Feldman and Zrnic 2021, Individual Privacy Accounting"),
    Source("bok2024", "Bok, Su and Altschuler 2024, Shifted Interpolation for DP"),
    Source("muthu2024", "Annamalai 2024, It's Our Loss"),
    Source("steinke2025", "Steinke and others 2025, The Last Iterate Advantage"),
    Source("tholoniat2025", "Tholoniat and others 2025, Beyond Per-Querier Budgets"),
)
