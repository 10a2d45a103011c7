#!/usr/bin/python3
"""Draws figures of `c3sim reproduce NAME --json` as bars: those whose id begins with --id, by the rest of the id, with their limits."""

import argparse
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: plot_study.py out/study.json --id fitted.solver -o out/study.svg",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="JSON of c3sim reproduce")
    parser.add_argument("--id", required=True, help="beginning of the ids of the figures to draw")
    parser.add_argument("--beside", action="append", default=[], help="a number beside each figure to draw as well; repeat it")
    parser.add_argument("--label", default="here", help="what the figures themselves are called in the legend")
    parser.add_argument("--title", default="", help="words above the picture")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="picture to write: .png, .svg or .pdf")
    return parser.parse_args(arguments)


def draw(figures, prefix, beside, title, label="here"):
    labels = [figure["id"].removeprefix(prefix).lstrip(".").replace(".", " ") for figure in figures]
    picture, axes = pyplot.subplots(figsize=(7.2, 0.8 + 0.24 * len(figures) * (1 + len(beside))), layout="constrained")
    height = 0.8 / (1 + len(beside))
    for place, name in enumerate(["here", *beside]):
        values = [figure["simulated"] if name == "here" else figure["beside"].get(name, 0) for figure in figures]
        axes.barh([row + place * height for row in range(len(figures))], values, height=height,
                  label=label if name == "here" else name)
    for row, figure in enumerate(figures):
        if figure["high"] is not None:
            axes.plot([figure["high"]] * 2, [row - 0.4, row + 0.4], color="#b00020", linewidth=1.5)
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(figures))] if beside else range(len(figures)), labels)
    axes.invert_yaxis()
    axes.set_xlabel(figures[0]["unit"])
    axes.set_title(title, fontsize=9)
    if beside:
        axes.legend(fontsize=8)
    return picture


def main(arguments):
    options = parse_arguments(arguments)
    study = json.loads(options.file.read_text())
    figures = [figure for figure in study.get("figures", []) if figure["id"].startswith(options.id) and figure["simulated"] is not None]
    if not figures:
        sys.exit(f"plot_study.py: {options.file} has no figure whose id begins with '{options.id}'")
    dated = {"Date": None} if options.output.suffix == ".svg" else {}
    draw(figures, options.id, options.beside, options.title, options.label).savefig(options.output, metadata=dated)


if __name__ == "__main__":
    main(sys.argv[1:])
