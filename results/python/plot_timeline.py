#!/usr/bin/python3
"""Draws a result file of `c3sim run` as a timeline: streams and copy engines, and the use of CUs, HBM and links."""

import argparse
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
import matplotlib.pyplot as pyplot
from matplotlib.patches import Patch

from c3sim_results import Run

COLOURS = {"kernel": "#3b6fb6", "collective": "#e08a2c", "transfer": "#f0bf7d", "wait": "#b9b9b9"}
MEANINGS = {"kernel": "compute kernel", "collective": "collective", "transfer": "copy on an engine", "wait": "wait"}
USES = {"CUs": ("#3b6fb6", r"gpu{gpu}\.cus"), "HBM": ("#3f9a5c", r"gpu{gpu}\.hbm"), "links": ("#c2461f", r"link{gpu}-\d+")}
LANE, USE, GAP, HEAD = 0.26, 0.75, 0.42, 0.55  # inches: a lane, a panel of use, between strategies, above the first
WIDTH, LEFT, RIGHT, FOOT = 11.0, 1.25, 0.25, 0.55  # inches
MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  plot_timeline.py out/c3_llama70b_mi300x.h5\n"
               "  plot_timeline.py out/c3_llama70b_mi300x.h5 --strategy prioritized --strategy dma -o two.png")
    parser.add_argument("file", type=pathlib.Path, help="result file (HDF5) of c3sim run")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="PNG to write (default: beside the file)")
    parser.add_argument("--strategy", action="append", metavar="NAME", help="only this one; repeatable (default: all)")
    parser.add_argument("--gpu", type=int, default=0, metavar="RANK", help="whose timeline (default: 0)")
    parser.add_argument("--dpi", type=int, default=130, help="pixels an inch (default: 130)")
    return parser.parse_args(arguments)


def lanes_of(run, strategy, gpu):
    """(label, activities) for every stream, then for every copy engine, of what is worth a bar."""
    activities = run.activities(strategy)
    activities = activities[(activities.gpu == gpu) & (activities.duration_us > 0)]
    on_stream = activities[activities.kind.isin(["kernel", "collective", "wait"])]
    on_engine = activities[(activities.kind == "transfer") & (activities.engine >= 0)]
    return ([(f"stream {stream}", bars) for stream, bars in on_stream.groupby("stream")]
            + [(f"DMA {engine}", bars) for engine, bars in on_engine.groupby("engine")])


def share_in_use(run, strategy, pattern):
    """Used share of all resources whose name matches, in %, as a step function: a Series by time_us."""
    resources = run.resources(strategy)
    resources = resources[resources.name.str.fullmatch(pattern)].set_index("name")
    steps = run.steps(strategy)
    steps = steps[steps.resource.isin(resources.index)]
    wide = steps.pivot(index="time_us", columns="resource", values=["used", "capacity"]).ffill()
    used = wide["used"].fillna(0)
    capacity = wide["capacity"].fillna(resources.capacity)
    return 100 * used.sum(axis=1) / capacity.sum(axis=1)


def draw_lanes(axes, lanes, scale):
    for row, (_, bars) in enumerate(lanes):
        axes.barh([row] * len(bars), bars.duration_us / scale, left=bars.start_us / scale, height=0.78,
                  color=bars.kind.map(COLOURS), edgecolor="white", linewidth=0.6)
    axes.set_ylim(len(lanes) - 0.5, -0.5)
    axes.set_yticks(range(len(lanes)), [label for label, _ in lanes], fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelbottom=False, length=0)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


def write_names(axes, lanes, scale):
    """Inside a bar, when it fits. The axes have their limits by now."""
    for row, (_, bars) in enumerate(lanes):
        for bar in bars[bars.kind != "transfer"].itertuples():
            middle = (bar.start_us + bar.end_us) / 2 / scale
            text = axes.text(middle, row, bar.name, ha="center", va="center", fontsize=8,
                             color="black" if bar.kind == "wait" else "white")
            left, right = axes.transData.transform([(bar.start_us / scale, 0), (bar.end_us / scale, 0)])[:, 0]
            text.set_visible(text.get_window_extent().width < right - left)


def draw_use(axes, run, strategy, gpu, end_us, scale):
    for name, (colour, pattern) in USES.items():
        share = share_in_use(run, strategy, pattern.format(gpu=gpu))
        times = [*share.index / scale, end_us / scale]
        axes.step(times, [*share, share.iloc[-1] if len(share) else 0], where="post", color=colour, linewidth=1.0, label=name)
    axes.set_ylim(0, 105)
    axes.set_yticks([0, 50, 100], ["0", "50", "100 %"], fontsize=8)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.tick_params(axis="x", labelbottom=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw(run, strategies, gpu):
    """One strategy above another on one time axis: lanes, and below them the use of resources."""
    lanes = {strategy: lanes_of(run, strategy, gpu) for strategy in strategies}
    summary = run.summary()
    end_us = max(bars.end_us.max() for strategy in strategies for _, bars in lanes[strategy])
    unit = max((unit for unit, us in MICROSECONDS.items() if us <= end_us), key=MICROSECONDS.get, default="us")
    scale = MICROSECONDS[unit]
    height = HEAD + FOOT + sum(GAP + USE + LANE * len(lanes[strategy]) for strategy in strategies)
    figure = pyplot.figure(figsize=(WIDTH, height))

    def panel(top, size):
        """Axes `size` inches high, `top` inches below the upper edge."""
        return figure.add_axes([LEFT / WIDTH, 1 - (top + size) / height, 1 - (LEFT + RIGHT) / WIDTH, size / height],
                               xlim=(0, end_us / scale * 1.005))

    top = HEAD
    for strategy in strategies:
        row, rows = summary.loc[strategy], lanes[strategy]
        top += GAP
        upper = panel(top, LANE * len(rows))
        upper.set_title(f"{strategy}: {row.time_us / scale:.3f} {unit}, speedup {row.speedup:.2f}", loc="left",
                        fontsize=9, fontweight="bold", pad=4)
        draw_lanes(upper, rows, scale)
        write_names(upper, rows, scale)
        top += LANE * len(rows)
        lower = panel(top, USE)
        draw_use(lower, run, strategy, gpu, rows_end(rows), scale)
        top += USE
    lower.tick_params(axis="x", labelbottom=True, labelsize=8)
    lower.set_xlabel(f"time since the start of the run [{unit}]", fontsize=9)

    used = {kind for rows in lanes.values() for _, bars in rows for kind in bars.kind}
    handles = [Patch(color=COLOURS[kind], label=MEANINGS[kind]) for kind in COLOURS if kind in used]
    handles += [line for line in lower.get_lines()]
    figure.text(LEFT / WIDTH, 1 - 0.22 / height, f"{run.attributes['experiment']}, GPU {gpu}", fontsize=11, va="center")
    figure.legend(handles=handles, loc="upper right", bbox_to_anchor=(1 - RIGHT / WIDTH, 1 - 0.3 / height),
                  ncol=len(handles), fontsize=8, frameon=False, borderaxespad=0)
    return figure


def rows_end(lanes):
    return max(bars.end_us.max() for _, bars in lanes)


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
    draw(run, strategies, options.gpu).savefig(output, dpi=options.dpi)
    print(output)


if __name__ == "__main__":
    main(sys.argv[1:])
