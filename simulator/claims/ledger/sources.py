"""The documents whose claims are checked, in the order of the ledger."""

from __future__ import annotations

from simulator.claims.model import Source

ROTH_2011 = Source("roth2011", "Roth 2011, Lecture 4")
GROUP_NOTES = Source("group-notes", "Lecture notes on group privacy and composition")
COMPOSITION_NOTE = Source("composition-note", "Note on composition theorems (in Chinese)")
ZHANG_2020 = Source("zhang2020", "Zhang 2020, USTC lecture 7")
CHAPTER_5 = Source("chapter5", "Properties of DP, chapter 5 (draft of 27 September 2021)")
CHUA_2024 = Source("chua2024", "Chua and others 2024, How Private are DP-SGD Implementations?")
ANNAMALAI_2024 = Source("annamalai2024", "Annamalai and others 2024, To Shuffle or not to Shuffle")
FELDMAN_2018 = Source("feldman2018", "Feldman and others 2018, Privacy Amplification by Iteration")
FELDMAN_2021 = Source("feldman2021", "Feldman and Zrnic 2021, Individual Privacy Accounting")
BOK_2024 = Source("bok2024", "Bok, Su and Altschuler 2024, Shifted Interpolation for DP")
MUTHU_2024 = Source("muthu2024", "Annamalai 2024, It's Our Loss")
STEINKE_2025 = Source("steinke2025", "Steinke and others 2025, The Last Iterate Advantage")
THOLONIAT_2025 = Source("tholoniat2025", "Tholoniat and others 2025, Beyond Per-Querier Budgets")

SOURCES = (
    ROTH_2011,
    GROUP_NOTES,
    COMPOSITION_NOTE,
    ZHANG_2020,
    CHAPTER_5,
    CHUA_2024,
    ANNAMALAI_2024,
    FELDMAN_2018,
    FELDMAN_2021,
    BOK_2024,
    MUTHU_2024,
    STEINKE_2025,
    THOLONIAT_2025,
)
