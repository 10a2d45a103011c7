#!/usr/bin/python3
"""Draws a result file of `c3sim run`: one strategy above another on one time axis, each with its streams and copy
engines and, below them, the share of CUs, HBM and links in use. What a trace recorded is below each stream that repeats it."""

import argparse
import pathlib
import sys

import matplotlib
import numpy

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot
from matplotlib.patches import Patch

from c3sim_results import Run

COLOURS = {"kernel": "#3b6fb6", "collective": "#d97f1e", "transfer": "#f0bf7d", "wait": "#b9b9b9"}
MEANINGS = {"kernel": "compute kernel", "collective": "collective", "transfer": "copy of an engine", "wait": "wait"}
QUEUED = {"facecolor": "white", "edgecolor": COLOURS["collective"], "hatch": "////", "linewidth": 0.5}
USES = {"CUs": r"gpu{gpu}\.cus", "HBM": r"gpu{gpu}\.hbm", "links": r"link{gpu}-\d+"}  # resources, by label
USE_COLOUR = "#5f9e6e"
WIDTH, LEFT, RIGHT, HEAD, FOOT = 11.0, 1.15, 0.25, 0.45, 0.55  # inches
LANE, GAP = 0.22, 0.36  # inches: one row, and between strategies
BAR = 0.8  # of a row
MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}
BINS = 600  # of the time axis: use is drawn as its mean over each


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  plot_timeline.py out/c3_llama70b_mi300x.h5\n"
               "  plot_timeline.py out/c3_llama70b_mi300x.h5 --strategy prioritized --strategy dma -o two.png")
    parser.add_argument("file", type=pathlib.Path, help="result file (HDF5) of c3sim run")
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        help="picture to write: .png, .svg or .pdf (default: a PNG beside the result file)")
    parser.add_argument("--strategy", action="append", metavar="NAME", help="only this one; repeatable (default: all)")
    parser.add_argument("--gpu", type=int, default=0, metavar="RANK", help="whose timeline (default: 0)")
    parser.add_argument("--dpi", type=int, default=130, help="pixels an inch (default: 130)")
    return parser.parse_args(arguments)


def lanes_of(run, strategy, gpu):
    """Label and bars of every stream, then of every copy engine."""
    activities = run.activities(strategy)
    activities = activities[activities.gpu == gpu]
    activities = activities.assign(moves_us=first_moves(activities))
    on_stream = activities[activities.kind.isin(["kernel", "collective", "wait"])]
    on_engine = activities[(activities.kind == "transfer") & (activities.engine >= 0)]
    return (beside_recorded([(stream, bars) for stream, bars in on_stream.groupby("stream")], run, run.recorded(strategy, gpu))
            + [(f"DMA {engine}", bars) for engine, bars in on_engine.groupby("engine")])


def first_moves(activities):
    """When the first channel or copy of a collective began: until then it waited for slots. Of anything else its start."""
    parts = activities[activities.kind.isin(["channel", "transfer"])].groupby("parent").start_us.min()
    return activities.id.map(parts).where(activities.kind == "collective").fillna(activities.start_us)


def beside_recorded(lanes, run, recorded):
    """Labels in place of numbers of streams; below each stream that repeats a trace what that recorded."""
    if recorded is None:
        return [(run.streams[stream], bars) for stream, bars in lanes]
    return [lane for stream, bars in lanes
            for lane in ((f"{run.streams[stream]} simulated", bars),
                         ("recorded", recorded[recorded.stream == stream].assign(moves_us=lambda its: its.start_us)))]


def share_in_use(run, strategy, pattern, edges_us):
    """Mean share, between each two edges, of the capacity of all resources whose names match."""
    resources = run.resources(strategy).set_index("name")
    resources = resources[resources.index.str.fullmatch(pattern)]
    steps = run.steps(strategy)
    steps = steps[steps.resource.isin(resources.index)]
    if steps.empty:
        return numpy.zeros(len(edges_us) - 1)
    wide = steps.pivot(index="time_us", columns="resource", values=["used", "capacity"]).ffill()
    share = wide["used"].sum(axis=1) / wide["capacity"].fillna(resources.capacity).sum(axis=1)
    times = share.index.to_numpy()
    area = numpy.concatenate([[0], numpy.cumsum(share.to_numpy()[:-1] * numpy.diff(times))])
    return numpy.diff(numpy.interp(edges_us, times, area)) / numpy.diff(edges_us)


def draw_lanes(axes, lanes, scale):
    for row, (_, bars) in enumerate(lanes):
        axes.barh([row] * len(bars), (bars.end_us - bars.moves_us) / scale, left=bars.moves_us / scale, height=BAR,
                  color=bars.kind.map(COLOURS), edgecolor="white", linewidth=0.5)
        late = bars[bars.moves_us > bars.start_us]
        axes.barh([row] * len(late), (late.moves_us - late.start_us) / scale, left=late.start_us / scale, height=BAR, **QUEUED)


def write_names(axes, lanes, scale):
    """Inside a bar, when they fit. The axes have their limits by now."""
    for row, (_, bars) in enumerate(lanes):
        for bar in bars[bars.kind != "transfer"].itertuples():
            text = axes.text((bar.moves_us + bar.end_us) / 2 / scale, row, bar.name, ha="center", va="center_baseline",
                             fontsize=8, color="black" if bar.kind == "wait" else "white")
            left, right = axes.transData.transform([(bar.moves_us / scale, 0), (bar.end_us / scale, 0)])[:, 0]
            text.set_visible(text.get_window_extent().width < right - left)


def draw_use(axes, first_row, shares, edges, end):
    """A strip for each resource, as high as a bar at 100 %, and its mean until `end`, where the strategy ends."""
    for row, share in enumerate(shares, first_row):
        floor = row + BAR / 2
        heights = share.round(2)
        steps = numpy.flatnonzero(numpy.diff(heights, prepend=-1.0))  # bins of one height are one step of the outline
        axes.fill_between(numpy.append(edges[steps], edges[-1]), floor - BAR * heights[numpy.append(steps, -1)], floor,
                          step="post", color=USE_COLOUR, linewidth=0)
        axes.hlines([floor, floor - BAR], 0, end, color="#bbbbbb", linewidth=0.5)
        mean = share.sum() * (edges[1] - edges[0]) / end
        axes.annotate(f"{100 * mean:.0f} %", (end, row), (4, 0), textcoords="offset points", va="center", fontsize=7)


def draw_strategy(axes, run, strategy, lanes, gpu, unit, edges_us):
    scale, row, end_us = MICROSECONDS[unit], run.summary().loc[strategy], run.recorded_us(strategy)
    draw_lanes(axes, lanes, scale)
    shares = [share_in_use(run, strategy, pattern.format(gpu=gpu), edges_us) for pattern in USES.values()]
    draw_use(axes, len(lanes), shares, edges_us / scale, end_us / scale)
    axes.set_ylim(len(lanes) + len(USES) - 0.5, -0.5)
    axes.set_yticks(range(len(lanes) + len(USES)), [label for label, _ in lanes] + list(USES), fontsize=7.5)
    axes.tick_params(length=0, labelbottom=False)
    axes.set_title(f"{strategy}: {row.time_us / scale:.3f} {unit}, speedup {row.speedup:.2f}", loc="left", fontsize=9,
                   fontweight="bold", pad=3)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    write_names(axes, lanes, scale)


def draw(run, strategies, gpu):
    lanes = {strategy: lanes_of(run, strategy, gpu) for strategy in strategies}
    end_us = max([run.recorded_us(strategy) for strategy in strategies]
                 + [bars.end_us.max() for rows in lanes.values() for _, bars in rows if len(bars)])
    unit = max((unit for unit, us in MICROSECONDS.items() if us <= end_us), key=MICROSECONDS.get, default="us")
    edges_us = numpy.linspace(0, end_us, BINS + 1)
    heights = {strategy: LANE * (len(lanes[strategy]) + len(USES)) for strategy in strategies}
    height = HEAD + FOOT + sum(GAP + size for size in heights.values())
    figure = pyplot.figure(figsize=(WIDTH, height))

    top = HEAD
    for strategy in strategies:
        top += GAP + heights[strategy]
        axes = figure.add_axes([LEFT / WIDTH, 1 - top / height, 1 - (LEFT + RIGHT) / WIDTH, heights[strategy] / height],
                               xlim=(0, end_us / MICROSECONDS[unit] * 1.04))
        draw_strategy(axes, run, strategy, lanes[strategy], gpu, unit, edges_us)
    axes.tick_params(axis="x", labelbottom=True, labelsize=8)
    axes.set_xlabel(f"time since the start of the run [{unit}]", fontsize=9)

    kinds = {kind for rows in lanes.values() for _, bars in rows for kind in bars.kind}
    handles = [Patch(color=COLOURS[kind], label=MEANINGS[kind]) for kind in COLOURS if kind in kinds]
    if any((bars.moves_us > bars.start_us).any() for rows in lanes.values() for _, bars in rows):
        handles.append(Patch(label="waits for slots", **QUEUED))
    handles.append(Patch(color=USE_COLOUR, label="share in use, 0-100 %, and its mean"))
    figure.text(LEFT / WIDTH, 1 - 0.3 / height, f"{run.attributes['experiment']}, GPU {gpu}", fontsize=11, va="center")
    figure.legend(handles=handles, loc="center right", bbox_to_anchor=(1 - RIGHT / WIDTH, 1 - 0.3 / height),
                  ncol=len(handles), fontsize=8, frameon=False, borderaxespad=0, handlelength=1.2, columnspacing=1.2)
    return figure


def main(arguments):
    options = parse_arguments(arguments)
    try:
        run = Run(options.file)
    except (OSError, ValueError) as error:
        sys.exit(f"plot_timeline.py: {error}")
    strategies = options.strategy or run.strategies
    for name in set(strategies) - set(run.strategies):
        sys.exit(f"plot_timeline.py: no strategy '{name}' in {options.file}; it holds {', '.join(run.strategies)}")
    output = options.output or options.file.with_suffix(".png")
    dated = {"Date": None} if output.suffix == ".svg" else {}
    draw(run, strategies, options.gpu).savefig(output, dpi=options.dpi, metadata=dated)
    print(output)


if __name__ == "__main__":
    main(sys.argv[1:])
