#!/usr/bin/python3
"""Draws what the GPUs of a training step hold, of `c3sim memory --json`: for each class of ranks (or some of them) a plot of all moments
of the step, by kind of tensor on top of one another, below the limit."""

import argparse
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

COLOURS = {"weights": "#2c67a8", "gradients": "#9dbbe0", "optimizer": "#74509c", "activations": "#b35a12", "communication": "#c9c9c9"}
GB = 1e9


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="example:\n  plot_memory.py out/memory.json --ranks 'stage 0' -o memory.svg")
    parser.add_argument("file", help="what c3sim memory --json printed of a training step")
    parser.add_argument("--ranks", action="append", help="class of ranks to draw (default: the one that needs most); repeatable")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="picture to write: .png, .svg or .pdf")
    return parser.parse_args(arguments)


def chosen(account, names):
    """Classes of ranks to draw."""
    if "fullest" not in account:
        sys.exit(f"{account['experiment']} is not a training step: it has no moments")
    if not names:
        return [account["classes"][account["fullest"]]]
    known = {its["name"] or "all": its for its in account["classes"]}
    missing = [name for name in names if name not in known]
    if missing:
        sys.exit(f"no class of ranks is called {missing[0]!r}; there are: {', '.join(known)}")
    return [known[name] for name in names]


def draw(axes, account, its):
    moments = its["moments"]
    heights = {kind: [moment["by_class"][kind] / GB for moment in moments] for kind in COLOURS}
    axes.stackplot(range(len(moments)), heights.values(), labels=heights.keys(), colors=COLOURS.values(), step="post", linewidth=0)
    axes.axhline(account["limit_bytes"] / GB, color="black", linewidth=1, linestyle="--", label="limit")
    highest = max(range(len(moments)), key=lambda moment: moments[moment]["bytes"])
    axes.annotate(f"{moments[highest]['name']}: {moments[highest]['bytes'] / GB:.1f} GB", (highest, moments[highest]["bytes"] / GB),
                  textcoords="offset points", xytext=(0, 6), ha="center", fontsize=8)
    axes.set_xlim(0, max(1, len(moments) - 1))
    axes.set_ylim(0, 1.08 * max(account["limit_bytes"], its["peak_bytes"]) / GB)
    axes.set_ylabel(f"{its['name'] or 'every GPU'} [GB]")


def main(arguments):
    options = parse_arguments(arguments)
    account = json.loads(pathlib.Path(options.file).read_text())
    classes = chosen(account, options.ranks)
    figure, rows = pyplot.subplots(len(classes), 1, figsize=(9, 1 + 2.6 * len(classes)), squeeze=False, layout="constrained")
    for axes, its in zip(rows[:, 0], classes):
        draw(axes, account, its)
    rows[0, 0].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize=8)
    rows[0, 0].set_title(f"{account['experiment']} on {account['system']}", fontsize=10)
    rows[-1, 0].set_xlabel("moments of a step, in the order in which the host launches them")
    figure.savefig(options.output, metadata={"Date": None} if options.output.suffix == ".svg" else None)


if __name__ == "__main__":
    main(sys.argv[1:])
