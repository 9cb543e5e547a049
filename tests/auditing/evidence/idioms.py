"""Honest ways to release noisy counts as a table: whatever they return is made of the noisy counts.

Each takes records, pairs of a letter and a number of 0 to 99, and what adds the noise to an array
of counts. With the noisy counts frozen it returns the same on all databases.
"""

import numpy as np

KEYS = ["a", "b", "c"]


def pandas_idioms(pd):
    def table(rows):
        return pd.DataFrame(rows, columns=["k", "x"])

    def value_counts_reindexed(rows, noisy):
        counts = table(rows)["k"].value_counts().reindex(KEYS, fill_value=0)
        return counts.add(noisy(counts.to_numpy()) - counts.to_numpy())

    def counts_in_place(rows, noisy):
        counts = table(rows)["k"].value_counts().reindex(KEYS, fill_value=0)
        counts = counts.copy()
        counts[:] = noisy(counts.to_numpy()).tolist()
        return counts

    def grouped(rows, noisy):
        sizes = table(rows).groupby("k").size().reindex(KEYS, fill_value=0)
        return pd.Series(noisy(sizes.to_numpy()), index=sizes.index, name="n")

    def categorical(rows, noisy):
        kinds = table(rows).assign(k=lambda t: pd.Categorical(t["k"], categories=KEYS))
        sizes = kinds.groupby("k", observed=False).size()
        return sizes.to_frame("n").assign(n=noisy(sizes.to_numpy()))

    def cut_into_bins(rows, noisy):
        bins = pd.cut(table(rows)["x"], [0, 50, 75, 100], right=False)
        return pd.Series(noisy(bins.value_counts(sort=False).to_numpy()), index=["lo", "mid", "hi"])

    def cut_with_its_own_labels(rows, noisy):
        counts = pd.cut(table(rows)["x"], [0, 50, 75, 100], right=False).value_counts(sort=False)
        return counts.mask(counts.notna(), noisy(counts.to_numpy()))

    def crossed(rows, noisy):
        t = table(rows).assign(high=lambda t: t["x"] >= 50)
        both = pd.crosstab(t["k"], t["high"]).reindex(
            index=KEYS, columns=[False, True], fill_value=0
        )
        return both.assign(**{"total": noisy(both.sum(axis=1).to_numpy())})[["total"]]

    def pivoted(rows, noisy):
        t = table(rows).assign(n=1)
        counts = t.pivot_table("n", "k", aggfunc="sum").reindex(KEYS, fill_value=0)
        return counts.assign(n=noisy(counts["n"].to_numpy())).reset_index()

    def melted(rows, noisy):
        counts = table(rows)["k"].value_counts().reindex(KEYS, fill_value=0)
        wide = pd.DataFrame([noisy(counts.to_numpy())], columns=counts.index)
        return wide.melt(var_name="k", value_name="n")

    def sorted_afterwards(rows, noisy):
        counts = grouped(rows, noisy)
        return counts.sort_values(ascending=False, kind="stable")

    def filtered_afterwards(rows, noisy):
        counts = grouped(rows, noisy)
        return counts[counts > 2]

    def clipped_and_normalised(rows, noisy):
        counts = grouped(rows, noisy).clip(lower=0)
        return counts / max(counts.sum(), 1)

    def looked_up_before(rows, noisy):
        counts = table(rows)["k"].value_counts().reindex(KEYS, fill_value=0)
        noisy_counts = noisy(np.array([counts.get(key, 0) for key in KEYS]))
        return pd.Series(noisy_counts, index=counts.index)

    def looked_up_where_present(rows, noisy):
        index = pd.Index(KEYS)
        counts = np.zeros(3, dtype=int)
        for key, _ in rows:
            if key != "a":
                counts[index.get_loc(key)] += 1
        counts[0] = len(rows) - counts.sum()
        return pd.DataFrame({"n": noisy(counts)}, index=index)

    def two_levels(rows, noisy):
        target = pd.MultiIndex.from_product([KEYS, ["all"]], names=["k", "group"])
        t = table(rows).assign(group="all")
        sizes = t.groupby(["k", "group"]).size().reindex(target, fill_value=0)
        return pd.Series(noisy(sizes.to_numpy()), index=sizes.index).unstack()

    def merged(rows, noisy):
        counts = table(rows)["k"].value_counts().rename_axis("k").reset_index(name="n")
        whole = pd.DataFrame({"k": KEYS}).merge(counts, how="left", on="k").fillna({"n": 0})
        return whole.assign(n=noisy(whole["n"].astype(int).to_numpy()))

    def written_as_text(rows, noisy):
        return grouped(rows, noisy).to_csv()

    def as_a_dict(rows, noisy):
        return grouped(rows, noisy).to_dict()

    return {k: v for k, v in locals().items() if callable(v) and k not in ("table", "pd")}


def polars_idioms(pl):
    def table(rows):
        return pl.DataFrame(rows, schema=["k", "x"], orient="row")

    def counted(rows):
        keys = pl.DataFrame({"k": KEYS})
        sizes = table(rows).group_by("k").len("n")
        return keys.join(sizes, on="k", how="left", maintain_order="left").fill_null(0)

    def joined(rows, noisy):
        counts = counted(rows)
        return counts.with_columns(n=pl.Series(noisy(counts["n"].to_numpy())))

    def sorted_by_key(rows, noisy):
        return joined(rows, noisy).sort("k")

    def sorted_by_count(rows, noisy):
        return joined(rows, noisy).sort("n", descending=True, maintain_order=True)

    def filtered(rows, noisy):
        return joined(rows, noisy).filter(pl.col("n") > 2)

    def a_series(rows, noisy):
        return joined(rows, noisy)["n"].clip(0, 5)

    def an_enumeration(rows, noisy):
        return joined(rows, noisy).cast({"k": pl.Enum(KEYS)})

    def categories(rows, noisy):
        return joined(rows, noisy).cast({"k": pl.Categorical})

    def in_two_chunks(rows, noisy):
        found = joined(rows, noisy)
        return pl.concat([found.head(1), found.tail(2)], rechunk=len(rows) % 2 == 0)

    def lazily(rows, noisy):
        return joined(rows, noisy).lazy().select(pl.col("n").sum()).collect()

    def transposed(rows, noisy):
        return joined(rows, noisy).transpose(column_names="k", include_header=True)

    def rows_of_it(rows, noisy):
        return joined(rows, noisy).rows(named=True)

    return {
        k: v for k, v in locals().items() if callable(v) and k not in ("table", "pl", "counted")
    }
