#!/usr/bin/python3
"""Draws how much longer kernels take beside blocks that copy, read or write, from the rows of
`c3sim reproduce one_gpu --rows FILE`: products and an addition on each GPU, measured and here."""

import argparse
import csv
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")  # no display needed
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "c3sim"})  # texts stay texts; equal runs, equal files
import matplotlib.pyplot as pyplot

COLOURS = {"write": "#b5432e", "copy": "#17375e", "read": "#5b9bd5", "read_l2": "#8a8a8a"}
WORDS = {"write": "write to HBM", "copy": "copy HBM to HBM", "read": "read HBM", "read_l2": "read what L2 holds"}
CASE = re.compile(r"(?P<kernel>.+) beside (?P<blocks>\d+) that (?P<way>\w+)")
KERNELS = {"six products, mean": lambda name: name.startswith("gemm") and not name.startswith("gemm 128 "),
           "an addition": lambda name: name.startswith("add")}


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: plot_beside.py out/one.csv -o studies/one_gpu/beside.svg",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="CSV of c3sim reproduce one_gpu --rows")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="picture to write: .png, .svg or .pdf")
    return parser.parse_args(arguments)


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found = CASE.fullmatch(row["case"])
            if found and row["figure"] == "slower":
                yield row["gpu"], found["kernel"], found["way"], int(found["blocks"]), float(row["measured"]), float(row["here"])


def draw(rows):
    gpus = sorted({row[0] for row in rows})
    figure, axes = pyplot.subplots(len(KERNELS), len(gpus), figsize=(9.0, 5.6), sharex=True, sharey="row", layout="constrained")
    for line, (what, is_meant) in zip(axes, KERNELS.items()):
        for axis, gpu in zip(line, gpus):
            for way, colour in COLOURS.items():
                its = [row for row in rows if row[0] == gpu and row[2] == way and is_meant(row[1])]
                blocks = sorted({row[3] for row in its})
                for column, style in ((4, "-"), (5, "--")):
                    means = [sum(row[column] for row in its if row[3] == b) / sum(row[3] == b for row in its) for b in blocks]
                    axis.plot(blocks, means, style, color=colour, marker="o", markersize=3, label=WORDS[way] if style == "-" else None)
            axis.set_title(f"{gpu}: {what}", fontsize=9)
            axis.grid(alpha=0.3)
        line[0].set_ylabel("time over that alone")
    axes[0][0].legend(fontsize=8, title="blocks on other SMs; dashed: here", title_fontsize=8)
    figure.supxlabel("SMs that have such blocks", fontsize=10)
    return figure


def main(arguments):
    options = parse_arguments(arguments)
    draw(list(read(options.file))).savefig(options.output, metadata={"Date": None} if options.output.suffix == ".svg" else None)


main(sys.argv[1:])
