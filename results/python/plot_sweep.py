#!/usr/bin/python3
"""Draws a merged sweep (`c3sim merge`): a number along one swept key, a line for each value of another, or a heat map
over two. A plot for each combination of the other keys; over seeds the median, with a band from the least to the
largest."""

import argparse
import math
import pathlib
import sys

import matplotlib
import numpy
import pandas

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

from c3sim_results import Sweep

MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}
SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "kB": 1e3, "MB": 1e6, "GB": 1e9}
COLOURS = ["#2c67a8", "#b35a12", "#4a772c", "#74509c", "#12767a", "#676f78", "#a3182c", "#8a6d00"]
LINES = ["solid", (0, (6, 2)), (0, (2, 2))]  # of what lies above another
MOST_PLOTS = 12
COLUMNS = 3  # of plots
WIDTH, HEIGHT = 3.9, 3.1  # inches of one


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n  plot_sweep.py out/partition.h5 --x cus --y partitioned.time --series backend\n"
               "  plot_sweep.py out/partition.h5 --x cus --heat size --y partitioned.speedup --where \"op == 'all_gather'\"")
    parser.add_argument("file", type=pathlib.Path, help="file (HDF5) of c3sim merge")
    parser.add_argument("--x", required=True, metavar="KEY", help="swept key along which lines or columns go")
    parser.add_argument("--y", required=True, metavar="STRATEGY.NUMBER", help="what is drawn")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--series", metavar="KEY", help="swept key with a line for each value")
    kind.add_argument("--heat", metavar="KEY", help="swept key with a row for each value of a heat map")
    parser.add_argument("--gain-over", metavar="VALUE",
                        help="with --series: draw by how much less time is taken than on the line of this value, in percent")
    parser.add_argument("--where", metavar="EXPRESSION", help="only points for which it holds, as pandas' query takes it")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="PNG, SVG or PDF to write (default: a PNG beside the file)")
    parser.add_argument("--dpi", type=int, default=130, help="pixels an inch (default: 130)")
    return parser.parse_args(arguments)


def chosen_points(sweep, options):
    """Those that --where keeps, as gains with --gain-over. \\raises ValueError naming what the sweep does not have"""
    for key in filter(None, (options.x, options.series, options.heat)):
        if key not in sweep.keys:
            raise ValueError(f"no swept key '{key}'; there are {', '.join(sweep.keys)}")
    if options.y not in sweep.points or not pandas.api.types.is_numeric_dtype(sweep.points[options.y]):
        numbers = [name for name in sweep.points if "." in name and name not in sweep.keys]
        raise ValueError(f"no number '{options.y}'; there are {', '.join(numbers)}")
    points = sweep.points
    if options.where:
        try:
            points = points.query(options.where)
        except Exception as error:  # whatever pandas makes of a slip of the keyboard
            raise ValueError(f"--where: {error}") from error
        if points.empty:
            raise ValueError(f"--where: no point has {options.where}")
    return gains(points, sweep, options) if options.gain_over else points


def gains(points, sweep, options):
    """The points of the other lines, with 100 (time of the line that --gain-over names / time - 1) where it has the same
    keys. Keys that follow from the line are not compared. \\raises ValueError without such a line"""
    if not options.series:
        raise ValueError("--gain-over requires --series")
    names = points[options.series].map(lambda value: label_of(value, sweep.units[options.series]))
    if options.gain_over not in set(names):
        raise ValueError(f"no {options.series} '{options.gain_over}'; there are {', '.join(names.unique())}")
    keys = [key for key in sweep.keys if key != options.series and points.groupby(options.series)[key].nunique().max() > 1]
    base = points[names == options.gain_over].groupby(keys)[options.y].median()
    others = points[names != options.gain_over]
    wanted = pandas.MultiIndex.from_frame(others[keys]) if len(keys) > 1 else others[keys[0]]
    return others.assign(**{options.y: 100 * (base.reindex(wanted).to_numpy() / others[options.y] - 1)})


def plots_of(points, keys, drawn):
    """Name and points of every combination of the keys that are not drawn and not determined by others."""
    apart = []
    for key in keys:
        if key not in drawn and points.groupby(drawn + apart)[key].nunique().max() > 1:
            apart.append(key)
    if not apart:
        return apart, [((), points)]
    groups = points.groupby(apart if len(apart) > 1 else apart[0], sort=False)
    return apart, [(values if len(apart) > 1 else (values,), group) for values, group in groups]


def in_units(values, units):
    """A factor and the unit in which the values are read."""
    if units != "us":
        return 1.0, "" if units == "1" else units
    largest = numpy.nanmax(numpy.abs(values)) if numpy.isfinite(values).any() else 0
    unit = max((unit for unit, us in MICROSECONDS.items() if us <= largest), key=MICROSECONDS.get, default="us")
    return MICROSECONDS[unit], unit


def label_of(value, units):
    if isinstance(value, str):
        return value
    if units == "B":
        return min((f"{value / size:g} {unit}" for unit, size in SIZES.items() if unit == "B" or value >= size), key=len)
    return f"{value:g}" if units in ("1", "") else f"{value:g} {units}"


def named(name, unit):
    return f"{name} [{unit}]" if unit else name


def is_by_factors(values):
    """Whether numbers, which rise, are spaced by factors rather than by steps."""
    if len(values) < 3 or values[0] <= 0:
        return False
    factors, steps = numpy.diff(numpy.log(values)), numpy.diff(values)
    return factors.std() / factors.mean() < steps.std() / steps.mean()


def draw_lines(axes, points, sweep, options, factor, series, ticks):
    lines = points.groupby(options.series, sort=False) if options.series else [("", points)]
    for value, line in lines:
        spread = line.groupby(options.x)[options.y].agg(["median", "min", "max"]) / factor
        places = [ticks.index(value) for value in spread.index] if isinstance(ticks[0], str) else spread.index
        number = series.index(value)
        colour = COLOURS[number % len(COLOURS)]
        axes.fill_between(places, spread["min"], spread["max"], color=colour, alpha=0.22, linewidth=0)
        axes.plot(places, spread["median"], marker="o", color=colour, markersize=3.5, linewidth=1.6,
                  linestyle="none" if isinstance(ticks[0], str) else LINES[number % len(LINES)],
                  label=label_of(value, sweep.units.get(options.series, "")))
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    label_x(axes, sweep, options, ticks)


def label_x(axes, sweep, options, ticks):
    """Ticks at swept values, as many as have room."""
    units = sweep.units[options.x]
    texts = [label_of(value, units) for value in ticks]
    stride = math.ceil(len(ticks) * max(map(len, texts)) / 36)
    if not isinstance(ticks[0], str) and is_by_factors(ticks):
        axes.set_xscale("log")
        axes.minorticks_off()
    if isinstance(ticks[0], str):
        axes.set_xlim(-0.5, len(ticks) - 0.5)
    places = range(len(ticks)) if isinstance(ticks[0], str) else ticks
    axes.set_xticks(list(places)[::stride], texts[::stride])


def draw_heat(axes, points, sweep, options, factor, limits, ticks):
    rows = sorted(points[options.heat].unique()) if points[options.heat].dtype != object else list(points[options.heat].unique())
    table = points.pivot_table(index=options.heat, columns=options.x, values=options.y, aggfunc="median", dropna=False)
    table = table.reindex(index=rows, columns=ticks) / factor
    axes.set_facecolor("#f2f2f2")
    axes.patch.set(hatch="////", edgecolor="#c9c9c9")  # seen where there is no value
    image = axes.imshow(table, aspect="auto", cmap="viridis", vmin=limits[0], vmax=limits[1])
    texts = [label_of(value, sweep.units[options.x]) for value in ticks]
    stride = math.ceil(len(ticks) * max(map(len, texts)) / 36)
    axes.set_xticks(range(0, len(ticks), stride), texts[::stride])
    axes.set_yticks(range(len(rows)), [label_of(value, sweep.units[options.heat]) for value in rows])
    axes.set_ylabel(options.heat, fontsize=9)
    return image


def without_values(points, y):
    """A sentence on points that are not drawn, or nothing."""
    absent = points[points[y].isna()]
    causes = absent.status.replace("ok", "without the number").value_counts()
    counts = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in causes.items())
    return f"{len(absent)} of {len(points)} points have no value: {counts}" if len(absent) else ""


def draw(sweep, points, options):
    drawn = [key for key in (options.x, options.series or options.heat) if key]
    apart, plots = plots_of(points, sweep.keys, drawn)
    notes = [without_values(points, options.y)]
    if len(plots) > MOST_PLOTS:
        notes.append(f"{MOST_PLOTS} of {len(plots)} plots; --where chooses others")
        plots = [plots[i * (len(plots) - 1) // (MOST_PLOTS - 1)] for i in range(MOST_PLOTS)]
    ticks = list(points[options.x].unique())
    ticks = ticks if isinstance(ticks[0], str) else sorted(ticks)
    series = list(points[options.series].unique()) if options.series else [""]
    factor, unit = (1.0, "%") if options.gain_over else in_units(points[options.y].to_numpy(), sweep.units[options.y])
    name = f"{options.y}: gain over {options.gain_over}" if options.gain_over else options.y
    limits = points[options.y].min() / factor, points[options.y].max() / factor

    columns = min(COLUMNS, len(plots))
    rows = math.ceil(len(plots) / columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=(max(columns, 1.6) * WIDTH, rows * HEIGHT + 0.9), squeeze=False,
                                   sharey=not options.heat, layout="constrained")
    for axes, (values, of_plot) in zip(grid.flat, plots):
        if options.heat:
            image = draw_heat(axes, of_plot, sweep, options, factor, limits, ticks)
        else:
            draw_lines(axes, of_plot, sweep, options, factor, series, ticks)
        axes.set_title(", ".join(label_of(value, sweep.units[key]) if isinstance(value, str) else
                                 f"{key} {label_of(value, sweep.units[key])}" for key, value in zip(apart, values)),
                       fontsize=9, loc="left")
        axes.set_xlabel(options.x, fontsize=9)
        axes.tick_params(labelsize=8)
    for axes in grid.flat[len(plots):]:
        axes.set_visible(False)
    if options.heat:
        figure.colorbar(image, ax=grid, label=named(name, unit), shrink=0.9)
    else:
        for axes in grid[:, 0]:
            axes.set_ylabel(named(name, unit), fontsize=9)
        if options.series:
            grid[0][-1].legend(*grid[0][0].get_legend_handles_labels(), title=options.series, loc="upper left",
                               bbox_to_anchor=(1.02, 1), fontsize=8, title_fontsize=8, frameon=False, borderaxespad=0)
    title = sweep.attributes["experiment"] + (f", {options.where}" if options.where else "")
    figure.suptitle("\n".join(filter(None, [title, *notes])), fontsize=10, x=0.01, ha="left")
    return figure


def main(arguments):
    options = parse_arguments(arguments)
    try:
        sweep = Sweep(options.file)
        points = chosen_points(sweep, options)
    except (OSError, ValueError) as error:
        sys.exit(f"plot_sweep.py: {error}")
    output = options.output or options.file.with_suffix(".png")
    dated = {"Date": None} if output.suffix == ".svg" else {}
    draw(sweep, points, options).savefig(output, dpi=options.dpi, metadata=dated)
    print(output)


if __name__ == "__main__":
    main(sys.argv[1:])
