"""A training step: its table, JSON, file, trace and page say the same, and one that has no room is a verdict."""

import collections
import json
import re
import sys
import unittest

import h5py
import numpy as np

from command import SOURCE, ScratchTest, c3sim

sys.path.insert(0, str(SOURCE / "results/python"))
from c3sim_results import Run  # noqa: E402

PICOSECONDS = 1e6  # in a microsecond
GPUS, LAYERS, SEQUENCE, SEQUENCES = 8, 3, 1024, 2

STEP = f"""
schema = 1
name   = "small"
system = "h100-sxm-8"

[model]
name = "small"
structure = "decoder"
norm = "rmsnorm"
activation = "silu"
gated = true
biases = false
hidden = 2048
ffn = 5632
heads = 16
kv_heads = 4
layers = {LAYERS}
vocabulary = 32000
dtype = "bf16"

[training]
framework = "pytorch-eager"
sequence = {SEQUENCE}
micro_batch = {SEQUENCES}
sharding = "fsdp"
recompute = "selective"

[strategy.channels]
[strategy.engines]
all_gather.backend = "dma"

[measure]
loss_split = false
"""


class Training(ScratchTest):
    def run_step(self, *arguments, code=0):
        (self.folder / "small.toml").write_text(STEP)
        done = c3sim("run", "small.toml", "-q", *arguments, folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return done.stdout

    def test_a_step_that_waits_for_its_host_takes_longer_on_a_slower_one(self):
        def time_on(*sets):
            words = [word for change in ("training.sequence=16", *sets) for word in ("--set", change)]
            return json.loads(self.run_step("--json", "-o", "run.h5", *words))["strategies"][0]["time_us"]
        usual = time_on()  # the host that pytorch-eager names
        self.assertEqual(usual, time_on("+training.host=xeon-8480c"))
        self.assertGreater(time_on("+training.host=grace"), 2 * usual)
        self.assertGreater(time_on("+host.kernel_launch=35 us"), 1.5 * usual)
        self.assertEqual(usual, time_on("+framework.host_forward=1.0"))
        self.assertGreater(time_on("+framework.host_forward=2.0"), 1.2 * usual)

    def test_the_table_the_json_and_the_file_have_the_same_numbers(self):
        table = self.run_step("-o", "run.h5")
        steps = json.loads(self.run_step("--json", "-o", "run.h5"))["strategies"]
        rows = {line.split()[0]: line.split() for line in table[table.index("\nstep"):].splitlines() if line}
        with h5py.File(self.folder / "run.h5") as file:
            for strategy in steps:
                name, step = strategy["strategy"], strategy["step"]
                seconds = strategy["time_us"] * 1e-6
                self.assertAlmostEqual(step["tokens_per_second"], GPUS * SEQUENCE * SEQUENCES / seconds, places=3)
                self.assertAlmostEqual(step["tokens_per_second_per_gpu"], step["tokens_per_second"] / GPUS, places=6)
                self.assertEqual(rows[name][2], f"{step['tokens_per_second']:.0f}")
                self.assertEqual(rows[name][4:6], [f"{100 * step['mfu']:.1f}%", f"{100 * step['hfu']:.1f}%"])
                stored = file[f"strategies/{name}/step"]
                for key in ("tokens_per_second", "tokens_per_second_per_gpu", "mfu", "hfu", "model_flops",
                            "hardware_flops"):
                    self.assertAlmostEqual(stored[key][0] / step[key], 1, places=12, msg=key)
                for key in ("kernels", "communication", "exposed", "idle"):
                    self.assertAlmostEqual(stored[key][0], step[f"{key}_us"] * PICOSECONDS, delta=1, msg=key)
                parts = stored["kernels"][0] + stored["exposed"][0] + stored["idle"][0]
                self.assertAlmostEqual(parts, strategy["time_us"] * PICOSECONDS, delta=4)
                self.assertAlmostEqual(step["mfu"], step["model_flops"] / (stored["peak"][0] * seconds), places=12)

    def test_model_flops_are_three_times_the_forward_pass(self):
        steps = json.loads(self.run_step("--json", "-o", "run.h5"))["strategies"]
        hidden, ffn, head, tokens = 2048, 5632, 128, SEQUENCE * SEQUENCES
        layer = hidden * (2 * hidden + 2 * 4 * head) + 3 * hidden * ffn
        products = 2 * tokens * (LAYERS * layer + hidden * 32000)
        pairs = SEQUENCES * SEQUENCE * (SEQUENCE + 1) / 2
        attention = LAYERS * 4 * pairs * head * 16
        self.assertAlmostEqual(steps[0]["step"]["model_flops"] / (3 * (products + attention)), 1, places=9)

    def test_the_file_has_classes_and_memory_with_units(self):
        [first, _] = json.loads(self.run_step("--json", "-o", "run.h5"))["strategies"]
        with h5py.File(self.folder / "run.h5") as file:
            names, group = file["names"].asstr()[:], file["strategies/channels"]
            classes = group["step_classes"]
            self.assertEqual([its["name"] for its in first["step"]["classes"]], names[classes["name"][:]].tolist())
            self.assertEqual([its["count"] for its in first["step"]["classes"]], classes["count"][:].tolist())
            self.assertLessEqual({"gemm", "attention", "all_gather", "reduce_scatter"}, set(names[classes["name"][:]]))
            memory = group["memory"]
            self.assertEqual(first["step"]["memory"]["peak_bytes"], np.sum(memory["bytes"]))
            by_class = collections.Counter()
            for name, taken in zip(names[memory["class"][:]], memory["bytes"][:]):
                by_class[name] += taken
            for name, taken in first["step"]["memory"]["by_class"].items():
                self.assertEqual(by_class[name], taken)
                self.assertEqual(group[f"step/memory_{name}"][0], taken)
            self.assertTrue((np.diff(memory["bytes"][:]) <= 0).all())
            for table in ("step", "step_classes", "memory"):
                for name, column in group[table].items():
                    self.assertTrue(column.attrs["units"] and column.attrs["long_name"], name)
        exported = c3sim("inspect", "run.h5", "--table", "step_classes", "--csv", folder=self.folder).stdout
        self.assertEqual(exported.splitlines()[0], "strategy,name,time_ps,count")

    def test_ranges_enclose_their_kernels_in_the_file_and_the_trace(self):
        self.run_step("-o", "run.h5", "--trace", "traces")
        with h5py.File(self.folder / "run.h5") as file:
            names, activities = file["names"].asstr()[:], file["strategies/engines/activities"]
            kinds = h5py.check_enum_dtype(activities["kind"].dtype)
            self.assertEqual(kinds["range"], 7)
            kind, ids = activities["kind"][:], activities["id"][:]
            rows = {number: row for row, number in enumerate(ids)}
            start, end, parent = (activities[name][:] for name in ("start", "end", "parent"))
            working = np.isin(kind, [kinds["kernel"], kinds["collective"]])
            self.assertTrue((parent[working] > 0).all(), "every operation of a step is in a range")
            for row in np.flatnonzero(working):
                whole = rows[parent[row]]
                self.assertEqual(kind[whole], kinds["range"])
                self.assertTrue(start[whole] <= start[row] and end[row] <= end[whole])
            in_file = sorted((names[activities["name"][row]], int(start[row]), int(end[row]))
                             for row in np.flatnonzero(kind == kinds["range"]))
        trace = json.loads((self.folder / "traces/engines/rank0.json").read_text())["traceEvents"]
        slices = [event for event in trace if event["ph"] == "X"]
        host = 0  # its track has the profiler's step and the note that the trace is of a shortened step
        annotated = [event for event in slices if event["cat"] == "user_annotation" and event["tid"] != host]
        in_trace = sorted((event["name"], round(event["ts"] * PICOSECONDS),
                           round((event["ts"] + event["dur"]) * PICOSECONDS)) for event in annotated)
        lead = in_trace[0][1] - in_file[0][1]  # the trace begins earlier, with the host's first launches
        self.assertGreaterEqual(lead, 0)
        self.assertEqual([(name, begin - lead, end - lead) for name, begin, end in in_trace], in_file)
        self.assertIn("backward, layer 1, recompute", {event["name"] for event in annotated})
        self.assertTrue(all(event["args"] == {} for event in annotated), "HTA would count them as kernels")
        # Viewers nest what begins together in the order of the file.
        for position, event in enumerate(slices):
            within = [other for other in slices[:position] if (other["pid"], other["tid"]) == (event["pid"], event["tid"])
                      and event["ts"] <= other["ts"] and other["ts"] + other["dur"] <= event["ts"] + event["dur"]]
            if event["cat"] == "user_annotation":
                self.assertEqual([other["name"] for other in within if other["dur"] > 0], [])

    def test_the_page_has_the_tables_and_the_python_reader_the_streams(self):
        table = self.run_step("-o", "run.h5")
        page = self.page()
        self.assertIn('<section id="step">', page)
        gemm = re.search(r"^gemm +(\S+) +(\S+)$", table, re.MULTILINE)
        self.assertIn(f'<th scope="row">gemm</th><td>{gemm[1]}</td><td>{gemm[2]}</td>', page)
        peak = re.search(r"^all tensors +(\S+) +(\S+)$", table, re.MULTILINE)
        self.assertIn(f'<th scope="row">all tensors</th><td>{peak[1]}</td><td>{peak[2]}</td>', page)
        run = Run(self.folder / "run.h5")
        self.assertLessEqual({"compute", "all_gather", "reduce_scatter"}, set(run.streams))
        self.assertEqual(run.recorded_us("channels"), run.table("channels", "step").recorded_time_us[0])
        self.assertIn("range", set(run.activities("channels").kind))

    def page(self):
        done = c3sim("report", "run.h5", "-o", "run.html", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "run.html").read_text()

    def test_exact_simulates_layers_that_are_else_counted(self):
        # Long sequences: with short ones hosts fall behind, and layers do not repeat.
        many = ["--set", "model.layers=12", "--set", "training.sequence=4096", "--json", "-o", "run.h5"]
        counted = json.loads(self.run_step(*many))["strategies"]
        with h5py.File(self.folder / "run.h5") as file:
            group = file["strategies/channels"]
            self.assertLess(group["step/recorded_time"][0], 0.9 * group["summary/time"][0])
            self.assertEqual(group["step/is_shortened"][0], 1)
            self.assertEqual(group["summary"].attrs["notes"], "\n".join(counted[0]["notes"]))
        self.assertRegex(self.page(), r"<span>of [\d.]+ ms drawn</span>")
        exact = json.loads(self.run_step(*many, "--exact"))["strategies"]
        with h5py.File(self.folder / "run.h5") as file:
            group = file["strategies/channels"]
            self.assertAlmostEqual(group["step/recorded_time"][0], group["summary/time"][0], delta=2)
            self.assertEqual(group["step/is_shortened"][0], 0)
            self.assertIn("--set measure.estimate=none", file.attrs["command_line"])
        self.assertNotIn(" drawn</span>", self.page())
        self.assertIn("steady state from 8 of 12 layers", counted[0]["notes"][0])
        self.assertNotIn("notes", exact[0])
        self.assertAlmostEqual(counted[0]["time_us"] / exact[0]["time_us"], 1, delta=0.01)

    # No room

    def test_a_step_that_does_not_fit_is_a_verdict_and_leaves_nothing_behind(self):
        (self.folder / "run.h5").write_text("mine")
        small = ["--set", 'gpu.hbm_size="2 GB"', "-o", "run.h5", "--trace", "traces"]
        table = self.run_step(*small, code=4)
        self.assertRegex(table, r"\nlimit +0\.500 +100\.0%\n")
        self.assertRegex(" ".join(table.split()),
                         r" small does not fit: it needs [12]\.\d GB of 0\.5 GB, of which 1\.\d GB are tensors at "
                         r"'backward, head'; largest: 0\.\d GB of [\w. ]+ \(activations\), ")
        verdict = json.loads(self.run_step(*small, "--json", code=4))
        self.assertEqual((verdict["schema_version"], verdict["verdict"]), (1, "out_of_memory"))
        self.assertFalse(verdict["memory"]["fits"])
        self.assertEqual(verdict["memory"]["limit_bytes"], 0.5e9)
        self.assertEqual(self.files(), ["run.h5", "small.toml"])
        self.assertEqual((self.folder / "run.h5").read_text(), "mine")

    def test_draws_that_do_not_fit_are_named(self):
        fits = json.loads(self.run_step("--json", "-o", "run.h5"))["strategies"][0]["step"]["memory"]
        # What the framework itself takes is a range from 0.8 to 2.1 GB.
        size = f'gpu.hbm_size="{fits["needed_bytes"] + 1.45e9:.0f} B"'
        verdict = json.loads(self.run_step("--set", size, "--set", "measure.draws=8", "--json", code=4))
        self.assertGreater(len(verdict["draws"]), 0)
        self.assertLess(len(verdict["draws"]), 8)
        self.assertEqual(self.files(), ["run.h5", "small.toml"])


if __name__ == "__main__":
    unittest.main()
