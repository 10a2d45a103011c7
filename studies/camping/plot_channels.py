#!/usr/bin/python3
"""Draws the load of each memory channel over time, as AerialVision does, from the rows of `c3sim reproduce camping --rows FILE`:
a heat map for each mapping, and below it the load of all channels together."""

import argparse
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot
import numpy

COLUMNS = ("mapping", "time_us", "channel", "load")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: plot_channels.py out/camping.csv -o studies/camping/channels.svg",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="CSV of c3sim reproduce camping --rows")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="picture to write: .png, .svg or .pdf")
    return parser.parse_args(arguments)


def draw(rows):
    mappings = list(dict.fromkeys(row["mapping"] for row in rows))
    figure, axes = pyplot.subplots(2, len(mappings), figsize=(9.6, 4.4), height_ratios=(3, 1), squeeze=False, layout="constrained")
    for (heat, curve), mapping in zip(axes.T, mappings):
        its = [row for row in rows if row["mapping"] == mapping]
        times = sorted({float(row["time_us"]) for row in its})
        channels = 1 + max(int(row["channel"]) for row in its)
        loads = numpy.array([float(row["load"]) for row in its]).reshape(channels, len(times))
        shown = heat.imshow(loads, aspect="auto", origin="lower", cmap="inferno", vmin=0, vmax=1, interpolation="nearest",
                            extent=(0, times[-1] + times[0], 0, channels))
        heat.set(title=mapping, ylabel="channel")
        curve.plot(times, 100 * loads.mean(axis=0), color="#17375e", linewidth=1)
        curve.set(xlabel="time [us]", ylabel="of all [%]", ylim=(0, 105), xlim=(0, times[-1] + times[0]))
    figure.colorbar(shown, ax=axes[0, :], label="load of the channel")
    return figure


def main(arguments):
    options = parse_arguments(arguments)
    with open(options.file, newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or any(column not in rows[0] for column in COLUMNS):
        sys.exit(f"plot_channels.py: {options.file} is not what c3sim reproduce camping --rows writes")
    dated = {"Date": None} if options.output.suffix == ".svg" else {}
    draw(rows).savefig(options.output, metadata=dated)


if __name__ == "__main__":
    main(sys.argv[1:])
