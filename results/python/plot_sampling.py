#!/usr/bin/python3
"""Draws what `c3sim sample kernels FILE --compare --json` prints: how much less each method simulates, and how far its
estimates are off."""

import argparse
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

LEAST = 1e-4  # percent: an error of 0 stands at the axis


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: plot_sampling.py out/methods.json -o out/methods.svg",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="JSON of c3sim sample kernels --compare")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="picture to write: .png, .svg or .pdf")
    return parser.parse_args(arguments)


def draw(compared):
    figure, axes = pyplot.subplots(figsize=(6.4, 3.6), layout="constrained")
    for method in compared["methods"]:
        mean, p95 = (max(100 * method[key], LEAST) for key in ("mean_error", "p95_error"))
        colour = "#2c67a8" if method["bound"] is not None else "#b35a12"
        axes.plot([method["speedup"]] * 2, [mean, p95], color=colour, linewidth=1.5)
        axes.plot(method["speedup"], mean, "o", color=colour)
        axes.annotate(f"{method['method']}: {method['speedup']:{',.0f' if method['speedup'] >= 100 else '.3g'}} times less, {100 * method['mean_error']:.2g} %",
                      (method["speedup"], mean), textcoords="offset points", xytext=(6, -3), fontsize=8)
    axes.set(xscale="log", yscale="log", xlabel="time of the whole over the time simulated",
             ylabel="error [%]: mean (dot) and 95th percentile")
    axes.margins(y=0.2)
    axes.set_xlim(1, 1000 * max(method["speedup"] for method in compared["methods"]))  # room for the words
    axes.set_title(f"{compared['invocations']} invocations of {compared['kernels']} kernels; blue: with a bound", fontsize=9)
    return figure


def main(arguments):
    options = parse_arguments(arguments)
    compared = json.loads(options.file.read_text())
    if "methods" not in compared or "invocations" not in compared:
        sys.exit(f"plot_sampling.py: {options.file} is not what c3sim sample kernels --compare --json prints")
    dated = {"Date": None} if options.output.suffix == ".svg" else {}
    draw(compared).savefig(options.output, metadata=dated)


if __name__ == "__main__":
    main(sys.argv[1:])
