"""results/python/plot_overlap.py: the parts of a step add up to it and are those of the table of classes."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from command import SOURCE, c3sim

TOOL = SOURCE / "results/python/plot_overlap.py"
SMALL = """
nodes = {nodes}
[model]
layers = 4
hidden = 1024
ffn = 4096
heads = 16
kv_heads = 8
vocabulary = 4096
[training]
sequence = 1024
global_batch = {batch}
pipeline = 2
embedding_in_split = false
loss_in_split = false
recompute_every = 1
"""
STRATEGIES = ["serial", "default", "prioritized", "capped", "capped_data", "copy_engines"]
EXPOSED = ["tensor-parallel", "data-parallel", "messages and waiting"]


def plot(*arguments):
    return subprocess.run([sys.executable, "-B", TOOL, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, "MPLCONFIGDIR": tempfile.gettempdir()}, check=False)


class PythonOverlap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim overlap ")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.steps = cls.run_step("overlap", "overlap.h5")

    @classmethod
    def run_step(cls, name, file, nodes=4, batch=8):
        """The shipped experiment of that name with a small model; what the command says of each strategy."""
        shipped = SOURCE / f"configs/experiments/training/llama3_405b_{name}.toml"
        (cls.folder / "small.toml").write_text(f"extends = [{json.dumps(str(shipped))}]" + SMALL.format(nodes=nodes, batch=batch))
        done = c3sim("run", "small.toml", "-o", file, "-q", "--json", folder=cls.folder)
        if done.returncode != 0:
            raise AssertionError(done.stderr + done.stdout)
        return {row["strategy"]: row for row in json.loads(done.stdout)["strategies"]}

    def parts(self, *files):
        done = plot(*files, "--csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["strategy"]: {name: float(value) for name, value in row.items() if name != "strategy"}
                for row in csv.DictReader(done.stdout.splitlines())}

    def test_parts_add_up_to_the_step_and_are_those_of_the_classes(self):
        bars = self.parts(self.folder / "overlap.h5")
        self.assertEqual(list(bars), STRATEGIES)
        for strategy, bar in bars.items():
            with self.subTest(strategy):
                step = self.steps[strategy]
                self.assertEqual(bar["gpus"], 32)
                self.assertAlmostEqual(bar["step"], step["time_us"] / 1e6, delta=2e-6)
                mean = {key: sum(its[key] * its["multiplicity"] for its in step["classes"]) / 32e6 for key in ("kernels_us", "exposed_us", "idle_us")}
                self.assertAlmostEqual(bar["kernels"] + bar["slowdown of kernels"], mean["kernels_us"], delta=4e-6)
                self.assertAlmostEqual(sum(bar[part] for part in EXPOSED), mean["exposed_us"], delta=6e-6)
                self.assertAlmostEqual(bar["rest"], mean["idle_us"], delta=6e-6)
                self.assertGreaterEqual(min(bar.values()), 0)

    def test_kernels_are_the_same_in_all_strategies_and_slowed_down_less_by_fewer_channels(self):
        bars = self.parts(self.folder / "overlap.h5")
        for strategy, bar in bars.items():
            self.assertAlmostEqual(bar["kernels"], bars["serial"]["kernels"], delta=2e-6, msg=strategy)
        self.assertGreater(bars["default"]["slowdown of kernels"], 1.5 * bars["capped"]["slowdown of kernels"])

    def test_a_picture_has_a_plot_for_each_number_of_gpus_and_names_of_files_before_strategies(self):
        self.run_step("user_buffers", "user_buffers.h5", nodes=8, batch=16)
        picture = self.folder / "overlap.svg"
        done = plot(self.folder / "overlap.h5", f"user buffers={self.folder / 'user_buffers.h5'}", "-o", picture)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        text = picture.read_text()
        for label in ("32 GPUs", "64 GPUs", "copy engines", "user buffers default", "slowdown of kernels", *EXPOSED):
            self.assertTrue(f">{label}<" in text, label)  # the picture is long

    def test_what_is_not_a_whole_step_is_refused(self):
        self.run_step("user_buffers", "shortened.h5", batch=64)
        for name, reason in (("missing.h5", "No such file"), ("shortened.h5", "a part of the step: repeat the run with --exact")):
            done = plot(self.folder / name)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertRegex(done.stderr.splitlines()[-1], rf"^plot_overlap\.py: .*{reason}")


if __name__ == "__main__":
    unittest.main()
