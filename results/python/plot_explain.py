#!/usr/bin/python3
"""Draws what `c3sim explain --json` found: the waterfall from the peak of the GPU to what the run reaches, the levers as a tornado, and the
critical path by class of operators."""

import argparse
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

COLOURS = {"peak": "#444444", "closed form": "#74509c", "interval union": "#2c67a8", "counterfactual": "#b35a12"}
MILLISECOND = 1e3  # in microseconds


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="example:\n  plot_explain.py out/explain.json -o explain.svg")
    parser.add_argument("file", help="what c3sim explain --json printed")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="picture to write: .png, .svg or .pdf")
    return parser.parse_args(arguments)


def draw_waterfall(axes, found):
    bars = [("flops at peak", found["at_peak_us"], "peak", 1.0)] if found["at_peak_us"] else []
    bars += [(part["name"], part["time_us"], part["method"], part["peak_left"]) for part in found["parts"]]
    begin = 0.0
    for row, (_, time, method, left) in enumerate(bars):
        axes.barh(row, time / MILLISECOND, left=begin / MILLISECOND, color=COLOURS[method])
        begin += time
        share = "" if left is None else f"{100 * left:.1f} %"
        axes.annotate(share, (max(begin, begin - time) / MILLISECOND, row), textcoords="offset points", xytext=(4, 0), va="center", fontsize=7)
    axes.set_yticks(range(len(bars)), [name for name, *_ in bars], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * found["time_us"] / MILLISECOND)
    axes.set_xlabel("ms; beside each bar: what is left of the peak")
    axes.legend(handles=[matplotlib.patches.Patch(color=colour, label=method) for method, colour in COLOURS.items()],
                loc="lower left", frameon=False, fontsize=7)


def draw_levers(axes, found):
    levers = found["levers"]
    change = lambda time: 100 * (time / found["time_us"] - 1)
    for row, lever in enumerate(levers):
        axes.barh(row, change(lever["time_at_low_us"]), color="#9dbbe0", label="less of it" if row == 0 else None)
        axes.barh(row, change(lever["time_at_high_us"]), color="#2c67a8", label="more of it" if row == 0 else None)
        axes.plot(change(lever["time_improved_us"]), row, "d", color="#b35a12", label="1.5 times better" if row == 0 else None)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(levers)), [lever["name"] for lever in levers], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("change of the time [%]")
    axes.legend(frameon=False, fontsize=7)


def draw_path(axes, found):
    classes = [its for its in found["critical_path"]["classes"] if its["on_path_us"] > 0]
    axes.barh(range(len(classes)), [its["on_path_us"] / MILLISECOND for its in classes], color="#2c67a8")
    axes.set_yticks(range(len(classes)), [its["name"] for its in classes], fontsize=8)
    axes.invert_yaxis()
    part = found["critical_path"]["part"]
    axes.set_xlabel("on the critical path [ms]" + (f", {part}" if part else ""))


def main(arguments):
    options = parse_arguments(arguments)
    found = json.loads(pathlib.Path(options.file).read_text())
    draws = [draw_waterfall, draw_path] + ([draw_levers] if found["levers"] else [])
    rows = [len(found["parts"]) + 1, len(found["critical_path"]["classes"]), len(found["levers"])][:len(draws)]
    figure, axes = pyplot.subplots(len(draws), 1, figsize=(8, 2 + 0.3 * sum(rows)), height_ratios=[1 + its for its in rows], layout="constrained")
    for each, its in zip(draws, axes):
        each(its, found)
    axes[0].set_title(f"{found['experiment']} on {found['system']}, {found['strategy']}", fontsize=10)
    figure.savefig(options.output, metadata={"Date": None} if options.output.suffix == ".svg" else None)


if __name__ == "__main__":
    main(sys.argv[1:])
