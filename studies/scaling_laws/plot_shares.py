#!/usr/bin/python3
"""Draws what interference adds to exposed communication, which projections do not know, from the rows of
`c3sim reproduce scaling_laws --rows FILE`: for each point the share of the step in which ranks communicate and no kernel
runs, with operators alone and simulated, and how much longer the simulated step is."""

import argparse
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

COLOURS = {1: "#5b9bd5", 2: "#2c67a8", 4: "#17375e"}
COLUMNS = ("hidden", "faster", "simulated_ms", "alone_ms", "exposed_alone", "exposed_simulated", "overlapped_share")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: plot_shares.py out/laws.csv -o studies/scaling_laws/shares.svg",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="CSV of c3sim reproduce scaling_laws --rows")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="picture to write: .png, .svg or .pdf")
    return parser.parse_args(arguments)


def mean(numbers):
    return sum(numbers) / len(numbers)


def draw(rows):
    figure, (shares, added) = pyplot.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
    for faster, colour in COLOURS.items():
        its = [row for row in rows if row["faster"] == faster]
        widths = sorted({row["hidden"] for row in its})
        for key, style in (("exposed_alone", "--"), ("exposed_simulated", "-")):
            means = [100 * mean([row[key] for row in its if row["hidden"] == width]) for width in widths]
            shares.plot(widths, means, style, color=colour, label=f"{faster}x compute" if style == "-" else None)
        added.plot([100 * row["overlapped_share"] for row in its], [100 * (row["simulated_ms"] / row["alone_ms"] - 1) for row in its], "o",
                   color=colour, markersize=3, label=f"{faster}x compute")
    shares.set(xscale="log", xlabel="hidden", ylabel="exposed communication [% of the step]")
    shares.set_xticks(widths, [f"{width // 1024}K" for width in widths], minor=False)
    shares.minorticks_off()
    shares.set_ylim(bottom=0)
    shares.set_title("dashed: operators alone; solid: simulated", fontsize=9)
    shares.legend(fontsize=8, frameon=False)
    added.set(xlabel="communication of gradients [% of the backward pass]", ylabel="simulated step longer by [%]")
    added.set_title("what interference and gaps add to operators alone", fontsize=9)
    return figure


def main(arguments):
    options = parse_arguments(arguments)
    with open(options.file, newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or any(column not in rows[0] for column in COLUMNS):
        sys.exit(f"plot_shares.py: {options.file} is not what c3sim reproduce scaling_laws --rows writes")
    rows = [{column: float(row[column]) if column not in ("hidden", "faster") else int(row[column]) for column in COLUMNS} for row in rows]
    dated = {"Date": None} if options.output.suffix == ".svg" else {}
    draw(rows).savefig(options.output, metadata=dated)


if __name__ == "__main__":
    main(sys.argv[1:])
