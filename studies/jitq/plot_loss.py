#!/usr/bin/python3
"""Draws the throughput that copies made just in time lose, over the amplification of units in memory, from the rows of
`c3sim reproduce jitq --rows FILE`: a curve for each model and batch, beside the published loss."""

import argparse
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

COLUMNS = ("model", "sequences", "sequence", "gpus", "amplification", "loss_percent")
COLOURS = ("#5b9bd5", "#17375e", "#d97a30", "#3f8f5f", "#8a5aa8")
STYLES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
PUBLISHED = 2.4  # percent


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: plot_loss.py out/jitq.csv -o studies/jitq/loss.svg",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="CSV of c3sim reproduce jitq --rows")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="picture to write: .png, .svg or .pdf")
    return parser.parse_args(arguments)


def curves_of(rows):
    """Points (amplification, loss) by model, then by batch."""
    curves = {}
    for row in rows:
        batch = f"{row['sequences']} x {row['sequence']}" + (f", {row['gpus']} GPUs" if row["gpus"] != "1" else "")
        curves.setdefault(row["model"], {}).setdefault(batch, []).append((float(row["amplification"]), float(row["loss_percent"])))
    return curves


def draw(curves):
    figure, axes = pyplot.subplots(figsize=(7.6, 4.2), layout="constrained")
    for colour, (model, batches) in zip(COLOURS, curves.items()):
        for style, (batch, points) in zip(STYLES * 2, batches.items()):
            axes.plot(*zip(*points), linestyle=style, color=colour, linewidth=1.2, label=f"{model}, {batch}")
    axes.axhline(PUBLISHED, color="#888888", linewidth=0.8)
    axes.text(32, PUBLISHED, "published 2.4 %", ha="right", va="bottom", fontsize=8, color="#555555")
    axes.set(xscale="log", xlabel="bandwidth inside the memory over that outside", ylabel="throughput lost [%]")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_yticks((0, 0.5, 1, 2, 5, 10, 20, 50), ("0", "0.5", "1", "2", "5", "10", "20", "50"))
    axes.set_ylim(bottom=0)
    ticks = sorted({point[0] for batches in curves.values() for points in batches.values() for point in points})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(fontsize=7, frameon=False, ncols=2)
    return figure


def main(arguments):
    options = parse_arguments(arguments)
    with open(options.file, newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or any(column not in rows[0] for column in COLUMNS):
        sys.exit(f"plot_loss.py: {options.file} is not what c3sim reproduce jitq --rows writes")
    dated = {"Date": None} if options.output.suffix == ".svg" else {}
    draw(curves_of(rows)).savefig(options.output, metadata=dated)


if __name__ == "__main__":
    main(sys.argv[1:])
