"""Simulated numbers of a training step, two nodes, T3 and a sweep are those of the files beside this one.

They are no claim about hardware. The cases are short or have one thing at a time: what runs together is chaotic, and
would move with any change. With --update, writes the files again: a change that moves numbers says why in its message.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["C3SIM_SOURCE"])
HERE = SOURCE / "tests/golden"
TOLERANCE = 5e-3  # of each number, as of the main job's
SHOWN_DIGITS = 6

# What is run for each file, in the repository. OUT is a folder.
CASES = {
    # Two of 32 layers on eight GPUs, one of which is simulated: forward, backward, gathers ahead and reduce-scatters behind.
    "training_step": ["run", "configs/experiments/training/llama3_8b_fsdp8.toml", "--set", "+model.layers=2",
                      "--set", "measure.seeds=1", "--json", "-o", "OUT/step.h5"],
    # A layer of each kind of block, on eight GPUs of which four share heads.
    "hybrid_step": ["run", "tests/golden/hybrid.toml", "--json", "-o", "OUT/hybrid.h5"],
    "two_nodes": ["collective", "all_reduce", "--system", "h100-sxm-8", "--nodes", "2", "--min", "64 KiB", "--max", "256 MiB",
                  "--factor", "64", "--algo", "auto,ring,tree", "--json"],
    "t3": ["run", "studies/t3/one.toml", "--set", "measure.seeds=2", "--json", "-o", "OUT/t3.h5"],
    "sweep": ["sweep", "tests/golden/sweep.toml", "-j", "2", "-o", "OUT/points"],
}
# Of the JSON and of the sweep's table: what the run is, not what it found.
NOT_COMPARED = {"schema_version", "seed", "output", "point", "id", "command", "status", "error"}


def run(arguments, folder):
    command = [os.environ["C3SIM"], "-q", *(word.replace("OUT", folder) for word in arguments)]
    return subprocess.run(command, cwd=SOURCE, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout


def leaves(value, path=""):
    """(path, number or text) of every value of a JSON document. Elements of a list have their names, or are counted."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key not in NOT_COMPARED:
                yield from leaves(member, f"{path}/{key}" if path else key)
    elif isinstance(value, list):
        names = [next(iter(element.values())) if isinstance(element, dict) else None for element in value]
        are_names = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
        for number, element in enumerate(value):
            yield from leaves(element, f"{path}/{names[number] if are_names else number}")
    elif value is not None:
        yield path, value


def found(name):
    """What the case gives now, by path."""
    with tempfile.TemporaryDirectory(prefix="c3sim golden ") as folder:
        out = run(CASES[name], folder)
        if name != "sweep":
            return dict(leaves(json.loads(out)))
        run(["merge", "OUT/points", "-o", "OUT/sweep.h5", "--csv"], folder)
        with open(pathlib.Path(folder) / "sweep.csv", encoding="utf-8", newline="") as file:
            return {f"{number}/{key}": number_or_text(value) for number, row in enumerate(csv.DictReader(file))
                    for key, value in row.items() if key not in NOT_COMPARED and value}


def number_or_text(text):
    try:
        return float(text)
    except ValueError:
        return text


def read(name):
    lines = (HERE / f"{name}.txt").read_text().splitlines()
    return {path: json.loads(value) for path, value in (line.split("  ", 1) for line in lines if not line.startswith("#"))}


def written(value):
    if isinstance(value, float):
        value = int(value) if value.is_integer() else float(f"{value:.{SHOWN_DIGITS}g}")
    return json.dumps(value)


def update(name):
    lines = [f"# c3sim {' '.join(CASES[name])}", "# tests/golden/update writes this file."]
    lines += [f"{path}  {written(value)}" for path, value in found(name).items()]
    (HERE / f"{name}.txt").write_text("\n".join(lines) + "\n")


class GoldenFiles(unittest.TestCase):
    def check(self, name):
        now, golden = found(name), read(name)
        self.assertGreater(len(golden), 4)
        self.assertEqual(list(now), list(golden))
        for path, expected in golden.items():
            with self.subTest(number=path):
                if isinstance(expected, (str, bool)):
                    self.assertEqual(now[path], expected)
                else:
                    self.assertAlmostEqual(now[path], expected, delta=TOLERANCE * abs(expected))


for case in CASES:
    setattr(GoldenFiles, f"test_{case}", lambda self, name=case: self.check(name))

if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        for case in CASES:
            update(case)
    else:
        unittest.main()
