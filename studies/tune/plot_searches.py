#!/usr/bin/python3
"""Draws spaces of `c3sim reproduce tune --rows FILE`: every candidate by its estimate and its time, and those that the search simulated.

    /usr/bin/python3 studies/tune/plot_searches.py out/tune.csv -o studies/tune/searches.svg
"""

import argparse

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as plt
import pandas as pd

COLUMNS = 4
SHOWN = 2.5  # times the least


def draw(axes, name, space):
    least = space["cost"].min()
    asked = space[space["asked"].notna()]
    axes.plot([1, SHOWN], [1, SHOWN], color="0.8", linewidth=0.8, zorder=0)
    near = space[space["cost"] < SHOWN * least]
    axes.plot(near["estimate"] / least, near["cost"] / least, "o", markersize=3, markeredgewidth=0, color="0.65")
    axes.plot(asked["estimate"] / least, asked["cost"] / least, "o", markersize=4, markeredgewidth=0, color="tab:red")
    axes.set_xlim(0.5, SHOWN)
    axes.set_ylim(0.95, SHOWN)
    axes.set_title(f"{name}: {len(asked)} of {len(space)}", fontsize=8)
    axes.tick_params(labelsize=7)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", help="CSV of c3sim reproduce tune --rows")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    spaces = list(pd.read_csv(arguments.rows).groupby("space", sort=False))
    rows = -(-len(spaces) // COLUMNS)
    figure, grid = plt.subplots(rows, COLUMNS, figsize=(2.4 * COLUMNS, 2.1 * rows), squeeze=False)
    for axes, (name, space) in zip(grid.flat, spaces):
        draw(axes, name, space)
    figure.supxlabel("estimate over the least cost of all", fontsize=9)
    figure.supylabel("cost over the least", fontsize=9)
    figure.tight_layout()
    figure.savefig(arguments.output, metadata={"Date": None})


if __name__ == "__main__":
    main()
