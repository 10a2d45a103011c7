#!/usr/bin/python3
"""Draws where the time of a training step goes under each strategy of result files of `c3sim run`: a bar each, of kernels, each
as fast as in the strategy of its file where it is fastest, what sharing adds to them, communication that no kernel hides, by
what it is for, and the rest. Times are means over all GPUs; files of different numbers of GPUs make a plot each."""

import argparse
import pathlib
import sys

import matplotlib
import numpy
import pandas

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

from c3sim_results import Run

KINDS = {"tensor": "tensor-parallel", "data": "data-parallel", "pipeline": "messages and waiting"}
PARTS = {"kernels": "#2c67a8", "slowdown of kernels": "#9dbbe0", KINDS["tensor"]: "#b35a12", KINDS["data"]: "#74509c",
         KINDS["pipeline"]: "#c9c9c9", "rest": "#eeeeee"}
KIND_OF = {"tensor": "tensor", "vocabulary": "tensor", "pipeline": "pipeline", "embedding": "pipeline", "opposite": "pipeline",
           "norm": "pipeline"}  # by the first word of a stream's name; all others are of data parallelism. The norm waits for all
SECOND = 1e6  # in microseconds


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example:\n  plot_overlap.py out/overlap.h5 'user buffers=out/user_buffers.h5' -o overlap.svg")
    parser.add_argument("file", nargs="+", metavar="[NAME=]FILE",
                        help="result file (HDF5) of a training step; NAME stands before the names of its strategies")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="picture to write: .png, .svg or .pdf")
    parser.add_argument("--csv", action="store_true", help="print the parts [s], a line for each bar")
    return parser.parse_args(arguments)


def covered(frame):
    """How long at least one row of a frame lasts [us]."""
    starts, ends = frame.start_us.to_numpy(), frame.end_us.to_numpy()
    order = numpy.argsort(starts, kind="stable")
    starts, ends = starts[order], numpy.maximum.accumulate(ends[order])
    gaps = numpy.maximum(starts[1:] - ends[:-1], 0.0)
    return float(ends[-1] - starts[0] - gaps.sum()) if len(starts) else 0.0


def kind_of(stream):
    return KIND_OF.get(stream.replace("_", " ").split()[0], "data")


def kernels_of(frame):
    """The kernels of a strategy, by GPU, stream and their number on it: the same program runs in all strategies of a file."""
    kernels = frame[frame.kind == "kernel"].sort_values("start_us", kind="stable")
    return kernels.set_index(["gpu", "stream", kernels.groupby(["gpu", "stream"]).cumcount()])


def parts_of(own, streams, alone, time):
    """The parts of one GPU's step [us]. Exposed communication of a kind is what it adds to kernels and the kinds before it.
    \\param alone what its kernels take where they are fastest"""
    kernels = own[own.kind == "kernel"]
    busy, total = covered(kernels), float(kernels.duration_us.sum())
    parts = {"kernels": busy * alone / total if total else 0.0}
    parts["slowdown of kernels"] = busy - parts["kernels"]
    moving = own[own.kind == "collective"]
    kinds = moving.stream.map(lambda stream: kind_of(streams[stream]))
    so_far, seen = kernels, busy
    for kind, part in KINDS.items():
        so_far = pandas.concat([so_far, moving[kinds == kind]])
        reached = covered(so_far)
        parts[part] = reached - seen
        seen = reached
    parts["rest"] = time - seen
    return parts


def bars_of(path, name):
    """Number of GPUs, label and parts [s] of each strategy of a file. \\raises ValueError for a step that is not whole"""
    run = Run(path)
    frames = {strategy: run.activities(strategy) for strategy in run.strategies}
    by_strategy = pandas.concat([kernels_of(frame).duration_us for frame in frames.values()], axis="columns")
    alone = by_strategy.min(axis="columns").groupby("gpu").sum()
    bars = []
    for strategy, frame in frames.items():
        summary, classes = run.table(strategy, "summary"), run.table(strategy, "classes")
        time, gpus = run.recorded_us(strategy), int(classes.multiplicity.sum())
        if abs(time / float(summary.time_us[0]) - 1.0) > 1e-6:
            raise ValueError(f"{path} shows a part of the step: repeat the run with --exact")
        sums = dict.fromkeys(PARTS, 0.0)
        for rank, count in zip(classes.representative, classes.multiplicity):
            for part, value in parts_of(frame[frame.gpu == rank], run.streams, alone[rank], time).items():
                sums[part] += value * count / gpus / SECOND
        bars.append((gpus, f"{name} {strategy}".strip(), sums))
    return bars


def draw(bars, output):
    scales = sorted({gpus for gpus, _, _ in bars})
    heights = [sum(gpus == scale for gpus, _, _ in bars) for scale in scales]
    height = 0.9 + 0.5 * len(scales) + 0.32 * sum(heights)
    figure, plots = pyplot.subplots(len(scales), figsize=(9.0, height), squeeze=False, sharex=True, height_ratios=heights)
    for axes, scale in zip(plots[:, 0], scales):
        shown = [(label, parts) for gpus, label, parts in bars if gpus == scale]
        for row, (_, parts) in enumerate(shown):
            left = 0.0
            for part, colour in PARTS.items():
                axes.barh(row, parts[part], left=left, color=colour, height=0.72, label=part if row == 0 else None)
                left += parts[part]
            axes.text(left, row, f" {left:.2f} s", va="center", fontsize=8)
        axes.set_yticks(range(len(shown)), [label.replace("_", " ") for label, _ in shown], fontsize=8)
        axes.invert_yaxis()
        axes.set_title(f"{scale:,} GPUs", loc="left", fontsize=9)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    plots[-1, 0].set_xlabel("time of a step, mean over GPUs [s]", fontsize=9)
    plots[-1, 0].set_xlim(0, 1.1 * max(sum(parts.values()) for _, _, parts in bars))
    figure.legend(*plots[0, 0].get_legend_handles_labels(), loc="upper center", ncols=len(PARTS), frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.3 / height))  # room for the legend
    figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None)


def main(arguments):
    options = parse_arguments(arguments)
    bars = []
    try:
        for argument in options.file:
            name, _, path = argument.rpartition("=")
            bars += bars_of(pathlib.Path(path), name)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"plot_overlap.py: {error}")
    if options.csv:
        print("gpus,strategy," + ",".join(PARTS) + ",step")
        for gpus, label, parts in bars:
            print(f"{gpus},{label}" + "".join(f",{parts[part]:.6f}" for part in PARTS) + f",{sum(parts.values()):.6f}")
    if options.output:
        draw(bars, options.output)


if __name__ == "__main__":
    main(sys.argv[1:])
