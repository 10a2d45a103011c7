#!/usr/bin/python3
"""Draws the kernels of BERT-Large steps on an MI100 by arithmetic intensity and rate, from the rows of
`c3sim reproduce bert --rows FILE`: which are bound by memory, and in which class most time goes."""

import argparse
import collections
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

CELLS = {"MI100, phase 1, 32 sequences, FP32": 46.1e12, "MI100, phase 1, 32 sequences, mixed": 184.6e12}  # peak of products, FLOP/s
HBM = 1.2288e12  # peak, B/s
COLOURS = {"other": "#999999", "embedding": "#a9d18e", "head": "#70ad47", "linear": "#2c67a8", "fc": "#17375e", "attention": "#5b9bd5",
           "norms": "#7f6000", "activation": "#e6a817", "scores": "#c55a11", "optimizer": "#b02318"}  # later ones are drawn on top
COLUMNS = ("cell", "class", "flops", "bytes", "us")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: plot_intensity.py out/bert.csv -o studies/bert/intensity.svg",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="CSV of c3sim reproduce bert --rows")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="picture to write: .png, .svg or .pdf")
    return parser.parse_args(arguments)


def draw(rows):
    figure, plots = pyplot.subplots(1, len(CELLS), figsize=(9.6, 3.8), sharey=True, layout="constrained")
    for axes, (cell, peak) in zip(plots, CELLS.items()):
        points = collections.defaultdict(list)
        for row in rows:
            if row["cell"] == cell and float(row["flops"]) > 0 and float(row["us"]) > 1:
                points[row["class"]].append((float(row["flops"]) / float(row["bytes"]), float(row["flops"]) / float(row["us"]) / 1e6))
        for name, colour in COLOURS.items():
            axes.plot(*zip(*points[name]) if points[name] else ([], []), "o", color=colour, markersize=3.5, label=name)
        roof = [0.05, peak / HBM, 4000]
        axes.plot(roof, [min(peak, HBM * x) / 1e12 for x in roof], color="black", linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="flops a byte", ylim=(0.01, 400))
        axes.set_title(cell, fontsize=9)
    plots[0].set_ylabel("TFLOP/s")
    plots[-1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def main(arguments):
    options = parse_arguments(arguments)
    with open(options.file, newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or any(column not in rows[0] for column in COLUMNS):
        sys.exit(f"plot_intensity.py: {options.file} is not what c3sim reproduce bert --rows writes")
    dated = {"Date": None} if options.output.suffix == ".svg" else {}
    draw(rows).savefig(options.output, metadata=dated)


if __name__ == "__main__":
    main(sys.argv[1:])
