#!/usr/bin/python3
"""Draws where the time of a training step goes under each strategy of result files of `c3sim run`: a bar each, of kernels as
fast as they ever ran, what sharing adds to them, communication that no kernel hides, by what it is for, and the rest.
Times are means over all GPUs. Needs a file of a training step."""

import argparse
import collections
import pathlib
import sys

import matplotlib
import numpy

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

from c3sim_results import Run

PARTS = {"kernels": "#3b6fb6", "slowdown of kernels": "#9dbbe0", "exposed: tensor": "#d97f1e", "exposed: data": "#8c5fb0",
         "exposed: pipeline": "#5f9e6e", "rest": "#d9d9d9"}
TRAFFIC = {"tensor": "tensor", "vocabulary": "tensor", "pipeline": "pipeline", "embedding": "pipeline",
           "opposite": "pipeline"}  # by the first word of a stream's name; all others are of data parallelism
SECOND = 1e6  # in microseconds


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example:\n  plot_overlap.py out/llama3_405b_overlap.h5 'user buffers=out/user_buffers.h5' -o overlap.svg")
    parser.add_argument("file", nargs="+", metavar="[NAME=]FILE",
                        help="result file (HDF5) of c3sim run; NAME stands for the name of its only strategy")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="picture to write: .png, .svg or .pdf")
    parser.add_argument("--csv", action="store_true", help="print the parts [s], a line for each bar")
    return parser.parse_args(arguments)


def union(starts, ends):
    """Disjoint intervals that cover the same, in order, as two arrays."""
    order = numpy.argsort(starts, kind="stable")
    starts, ends = starts[order], numpy.maximum.accumulate(ends[order])
    if not len(starts):
        return starts, ends
    begins = numpy.concatenate([[True], starts[1:] > ends[:-1]])
    lasts = numpy.concatenate([begins[1:], [True]])
    return starts[begins], ends[lasts]


def length_of(frame):
    starts, ends = union(frame.start_us.to_numpy(), frame.end_us.to_numpy())
    return float((ends - starts).sum())


def traffic_of(stream):
    return TRAFFIC.get(stream.split("_")[0].split()[0], "data")


def shares_of(activities, streams, fastest, time):
    """The parts of one GPU's step [us]. Exposed communication of one kind is what it adds to the union of kernels and the
    kinds before it, in the order of PARTS."""
    kernels = activities[activities.kind == "kernel"]
    alone = sum(fastest[name] * count for name, count in kernels.name.value_counts().items())
    busy = length_of(kernels)
    total = float(kernels.duration_us.sum())
    parts = dict.fromkeys(PARTS, 0.0)
    parts["kernels"] = busy * alone / total if total else 0.0
    parts["slowdown of kernels"] = busy - parts["kernels"]
    moving = activities[activities.kind == "collective"]
    kinds = moving.stream.map(lambda stream: traffic_of(streams[stream]))
    covered, seen = kernels, busy
    for kind in ("tensor", "data", "pipeline"):
        covered = pandas_concat(covered, moving[kinds == kind])
        reached = length_of(covered)
        parts[f"exposed: {kind}"] = reached - seen
        seen = reached
    parts["rest"] = time - seen
    return parts


def pandas_concat(first, second):
    import pandas  # c3sim_results needs it anyway
    return pandas.concat([first[["start_us", "end_us"]], second[["start_us", "end_us"]]])


def bars_of(path, name):
    """Label and parts [s] of each strategy of a file."""
    run = Run(path)
    if name and len(run.strategies) > 1:
        sys.exit(f"plot_overlap.py: {path} has {len(run.strategies)} strategies, and '{name}' can be the name of one only")
    frames = {strategy: run.activities(strategy) for strategy in run.strategies}
    fastest = collections.defaultdict(lambda: numpy.inf)
    for frame in frames.values():
        kernels = frame[frame.kind == "kernel"]
        for kernel, least in kernels.groupby("name", observed=True).duration_us.min().items():
            fastest[kernel] = min(fastest[kernel], least)
    bars = []
    for strategy, frame in frames.items():
        time = float(frame.end_us.max())
        classes = run.table(strategy, "classes")
        ranks = classes.multiplicity.sum()
        sums = dict.fromkeys(PARTS, 0.0)
        for number, (rank, count) in enumerate(zip(classes.representative, classes.multiplicity)):
            own = frame[frame.gpu == rank]
            for part, value in shares_of(own, run.streams, fastest, time).items():
                sums[part] += value * count / ranks / SECOND
        bars.append((name or strategy, sums))
    return bars


def draw(bars, output):
    figure, axes = pyplot.subplots(figsize=(9.0, 0.9 + 0.42 * len(bars)))
    for row, (_, parts) in enumerate(bars):
        left = 0.0
        for part, colour in PARTS.items():
            axes.barh(row, parts[part], left=left, color=colour, height=0.7, label=part if row == 0 else None)
            left += parts[part]
        axes.text(left, row, f" {left:.2f} s", va="center")
    axes.set_yticks(range(len(bars)), [label for label, _ in bars])
    axes.invert_yaxis()
    axes.set_xlabel("time of a step, mean over GPUs [s]")
    axes.set_xlim(0, 1.1 * max(sum(parts.values()) for _, parts in bars))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.legend(loc="upper center", ncols=len(PARTS), frameon=False, fontsize="small")
    figure.tight_layout(rect=(0, 0, 1, 0.92))
    figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None)


def main(arguments):
    options = parse_arguments(arguments)
    bars = []
    for argument in options.file:
        name, _, path = argument.rpartition("=")
        bars += bars_of(pathlib.Path(path), name)
    if options.csv:
        print("strategy," + ",".join(PARTS) + ",step")
        for label, parts in bars:
            print(label + "".join(f",{parts[part]:.4f}" for part in PARTS) + f",{sum(parts.values()):.4f}")
    if options.output:
        draw(bars, options.output)


if __name__ == "__main__":
    main(sys.argv[1:])
