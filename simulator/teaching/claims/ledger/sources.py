"""The documents whose claims are checked, in the order of the ledger."""

from __future__ import annotations

from simulator.teaching.claims.model import Source

ROTH_2011 = Source("roth2011", "Roth 2011, Lecture 4")
GROUP_NOTES = Source("group-notes", "Lecture notes on group privacy and composition")
COMPOSITION_NOTE = Source("composition-note", "Note on composition theorems (in Chinese)")
ZHANG_2020 = Source("zhang2020", "Zhang 2020, USTC lecture 7")
CHAPTER_5 = Source("chapter5", "Properties of DP, chapter 5 (draft of 27 September 2021)")
CHUA_2024 = Source("chua2024", "Chua and others 2024, How Private are DP-SGD Implementations?")
ANNAMALAI_2024 = Source("annamalai2024", "Annamalai and others 2024, To Shuffle or not to Shuffle")
CHAN_2011 = Source(
    "chan2011", "Chan, Shi and Song 2011, Private and Continual Release of Statistics"
)
VADHAN_2021 = Source("vadhan2021", "Vadhan and Wang 2021, Concurrent Composition")
VADHAN_2023 = Source("vadhan2023", "Vadhan and Zhang 2023, Concurrent Composition Theorems")
HENZINGER_2024 = Source(
    "henzinger2024",
    "Henzinger, Safavi and Vadhan 2024, Concurrent Composition, Continual Mechanisms",
)
LIU_2019 = Source("liu2019", "Liu and Talwar 2019, Private Selection from Private Candidates")
PAPERNOT_2022 = Source(
    "papernot2022", "Papernot and Steinke 2022, Hyperparameter Tuning with Renyi DP"
)
VADHAN_2017 = Source("vadhan2017", "Vadhan 2017, The Complexity of Differential Privacy")
BUN_2016 = Source("bun2016", "Bun and Steinke 2016, Concentrated Differential Privacy")
DONG_2022 = Source("dong2022", "Dong, Roth and Su 2022, Gaussian Differential Privacy")
SONG_2017 = Source("song2017", "Song, Wang and Chaudhuri 2017, Pufferfish Privacy Mechanisms")
KIFER_2011 = Source("kifer2011", "Kifer and Machanavajjhala 2011, No Free Lunch in Data Privacy")
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
    CHAN_2011,
    VADHAN_2021,
    VADHAN_2023,
    HENZINGER_2024,
    LIU_2019,
    PAPERNOT_2022,
    VADHAN_2017,
    BUN_2016,
    DONG_2022,
    SONG_2017,
    KIFER_2011,
    FELDMAN_2018,
    FELDMAN_2021,
    BOK_2024,
    MUTHU_2024,
    STEINKE_2025,
    THOLONIAT_2025,
)
