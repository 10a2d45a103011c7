"""c3sim explain: parts that add up to the time of the run, causes that are made impossible, paths, and levers against runs by hand."""

import json
import math
import pathlib
import signal
import subprocess
import sys
import unittest

from command import COMMAND, MAIN_JOB, SOURCE, ScratchTest, c3sim
from test_import import trace

TRAINING = SOURCE / "configs/experiments/training"
TRACED = SOURCE / "configs/experiments/traces/layers_mi300x.toml"
PIPELINE_BY_HAND = SOURCE / "configs/experiments/pipeline_1f1b.toml"
QUICK = ["measure.seeds=1", "measure.alone=false", "measure.loss_split=false", 'measure.kernel_grain="fluid"', 'measure.vector_grain="fluid"']
# A fully sharded step, tensor parallelism over nodes, and a pipeline, each of few layers.
STEPS = ((TRAINING / "llama3_8b_fsdp8.toml", ["model.layers=2", "training.sequence=2048"]),
         (TRAINING / "llama3_8b_fsdp8_tp8.toml", ["model.layers=2", "training.sequence=1024", "nodes=2"]),
         (TRAINING / "llama3_70b_pipeline.toml", ["model.layers=4", "training.global_batch=16", "training.sequence=1024"]))


def explain(file, *arguments, keys=()):
    words = [word for key in [*QUICK, *keys] for word in ("--set", key)]
    return c3sim("-q", "explain", file, *arguments, *words)


class Explain(ScratchTest):
    def found(self, file, *arguments, keys=()):
        done = explain(file, "--json", *arguments, keys=keys)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def time_of(self, file, *keys, strategy=0):
        words = [word for key in [*QUICK, *keys] for word in ("--set", key)]
        done = c3sim("-q", "run", file, "--json", "-o", self.folder / "run.h5", *words)
        return json.loads(done.stdout)["strategies"][strategy]["time_us"]

    def assert_adds_up(self, found):
        parts = (found["at_peak_us"] or 0) + sum(part["time_us"] for part in found["parts"])
        self.assertAlmostEqual(parts / found["time_us"], 1, delta=1e-9)
        if found["reached"] is not None:
            self.assertAlmostEqual(found["reached"], found["at_peak_us"] / found["time_us"], delta=1e-12)
            self.assertAlmostEqual(found["parts"][-1]["peak_left"], found["reached"], delta=1e-9)
        path = found["critical_path"]
        self.assertAlmostEqual(sum(its["on_path_us"] for its in path["classes"]) / path["time_us"], 1, delta=1e-9)
        for part in found["parts"]:
            if part["in_order_us"] is not None:
                self.assertEqual(part["method"], "counterfactual")
                self.assertAlmostEqual(part["time_us"], (part["in_order_us"] + part["reversed_us"]) / 2, delta=1e-6 * found["time_us"])

    def test_parts_of_steps_add_up_to_the_time_and_what_is_reached_is_the_mfu(self):
        for file, keys in STEPS:
            with self.subTest(file=file.name):
                found = self.found(file, "--no-levers", keys=keys)
                self.assert_adds_up(found)
                words = [word for key in [*QUICK, *keys] for word in ("--set", key)]
                ran = json.loads(c3sim("-q", "run", file, "--json", "-o", self.folder / "run.h5", *words).stdout)["strategies"][0]
                self.assertAlmostEqual(found["time_us"] / ran["time_us"], 1, delta=1e-9)
                self.assertAlmostEqual(found["reached"], ran["step"]["mfu"], delta=1e-9)
                names = {part["name"] for part in found["parts"]}
                self.assertLessEqual({"communication: data parallel", "hosts and launches", "gemm: below peak"}, names)
                self.assertEqual("pipeline bubble" in names, "pipeline" in file.name)
                self.assertEqual("communication: tensor parallel" in names, "fsdp8.toml" not in file.name)
                self.assertEqual("recomputation" in names, "fsdp8" in file.name)
                power = next(part["time_us"] for part in found["parts"] if part["name"] == "power limit")
                self.assertGreater(power, 0.02 * found["time_us"])  # products of H100 settle well below the boost clock

    def assert_exposed_divides(self, found):
        for its in found["communication"]:
            self.assertLessEqual(0, its["waiting_us"])
            self.assertLessEqual(its["waiting_us"], its["exposed_us"] + 1e-6)
            if its["latency_us"] is not None:
                self.assertAlmostEqual(its["waiting_us"] + its["latency_us"] + its["bandwidth_us"], its["exposed_us"], delta=1e-6 * found["time_us"])

    def assert_little_interaction(self, found):
        gap = found["time_us"] - (found["at_peak_us"] or 0)
        self.assertLessEqual(found["interaction_us"] / gap, 0.1)

    def test_parts_hardly_depend_on_the_order_of_causes(self):
        # As shipped; steps only with fewer layers and shorter sequences.
        for file, arguments, keys in ((MAIN_JOB, ["--strategy", "concurrent"], []), *((file, [], keys) for file, keys in STEPS)):
            with self.subTest(file=file.name):
                found = self.found(file, "--no-levers", *arguments, keys=keys)
                self.assert_adds_up(found)
                self.assert_little_interaction(found)
                self.assert_exposed_divides(found)

    def test_exposed_communication_by_kind_is_that_of_the_run_and_late_ranks_are_waited_for(self):
        file, keys = STEPS[0]
        keys = [*keys, "gpu.speed_spread=0", 'gpu.launch_skew="0 us"']
        words = [word for key in [*QUICK, *keys] for word in ("--set", key)]
        step = json.loads(c3sim("-q", "run", file, "--json", "-o", self.folder / "run.h5", *words).stdout)["strategies"][0]["step"]
        self.assertEqual([its["name"] for its in step["exposed_by"]], ["data parallel"])
        self.assertAlmostEqual(sum(its["time_us"] for its in step["exposed_by"]), step["exposed_us"], delta=1e-3)
        found = self.found(file, "--no-levers", keys=keys)
        self.assertAlmostEqual(found["communication"][0]["exposed_us"], step["exposed_us"], delta=1e-3)
        # One GPU of eight whose arithmetic takes 10 % longer lets the others wait, and nothing moves for longer.
        slow = self.found(file, "--no-levers", keys=[*keys, "+straggler.hot.ranks=[3]", "straggler.hot.factor=1.1"])
        waited, more = (slow["communication"][0][key] - found["communication"][0][key] for key in ("waiting_us", "exposed_us"))
        self.assertGreater(waited, 0.02 * found["time_us"])
        self.assertAlmostEqual(waited / more, 1, delta=0.2)

    def test_a_replayed_trace_adds_up_in_every_way_of_replaying(self):
        run = c3sim("-q", "run", TRACED, "--trace", self.folder / "trace", "-o", self.folder / "run.h5", "--set", "measure.seeds=1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(c3sim("-q", "import", self.folder / "trace/concurrent", "-o", self.folder / "imported").returncode, 0)
        for way, more in (("recorded", []), ("mixed", ["--set", 'trace.model=["collective"]']), ("modelled", [])):
            with self.subTest(replay=way):
                done = c3sim("-q", "explain", self.folder / "imported/experiment.toml", "--json", "--no-levers", "--set", f'trace.replay="{way}"', *more)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                found = json.loads(done.stdout)
                self.assert_adds_up(found)
                self.assert_little_interaction(found)
                self.assertEqual(found["reached"] is None, way != "modelled")

    def test_recomputation_is_what_its_kernels_take_by_closed_form(self):
        file, keys = STEPS[0]
        found = self.found(file, "--no-levers", keys=[*keys, 'training.recompute="full"'])
        part = next(part for part in found["parts"] if part["name"] == "recomputation")

        def kernels(recompute):
            words = [word for key in [*keys, f'training.recompute="{recompute}"'] for word in ("--set", key)]
            return json.loads(c3sim("-q", "memory", file, "--json", "--no-changes", *words).stdout)["closed_form"]["kernels_us"]

        # The closed form is at the clock that the power limit leaves, the part at the boost clock.
        ratio = part["time_us"] / (kernels("full") - kernels("none"))
        self.assertGreater(ratio, 0.6)
        self.assertLess(ratio, 1.05)

    def test_a_pair_of_streams_is_explained_by_strategy(self):
        found = self.found(MAIN_JOB, "--strategy", "concurrent", "--no-levers")
        self.assert_adds_up(found)
        self.assertEqual([part["name"] for part in found["parts"] if part["in_order_us"] is not None],
                         ["communication: fsdp", "hosts and launches", *(f"interference: {name}" for name in ("dispatch", "CUs", "caches", "HBM"))])
        self.assertEqual([its["name"] for its in found["communication"]], ["fsdp"])
        self.assert_exposed_divides(found)
        self.assertAlmostEqual(found["time_us"], self.time_of(MAIN_JOB, strategy=1), delta=1e-6)
        serial = self.found(MAIN_JOB, "--strategy", "serial", "--no-levers")
        self.assert_adds_up(serial)
        self.assertFalse([part for part in serial["parts"] if "interference" in part["name"]])
        # Alone, the all-gather would be hidden behind the GEMM: what it costs is interference. One after the other none of it is hidden.
        gathers = [next(part["time_us"] for part in each["parts"] if part["name"] == "communication: fsdp") for each in (found, serial)]
        self.assertLess(gathers[0], 0.01 * gathers[1])
        interference = sum(part["time_us"] for part in found["parts"] if "interference" in part["name"])
        self.assertAlmostEqual(sum(found["interference"].values()), interference, delta=1e-6 * found["time_us"])
        self.assertGreater(interference, 0.3 * found["time_us"])
        self.assertIsNone(serial["interference"])

    def test_recorded_times_have_no_peak_and_a_pipeline_by_hand_its_bubble(self):
        found = self.found(PIPELINE_BY_HAND, "--no-levers")
        self.assert_adds_up(found)
        self.assertIsNone(found["reached"])
        self.assertIsNone(found["at_peak_us"])
        parts = {part["name"]: part["time_us"] for part in found["parts"]}
        # Three micro-batches of 2 + 4 ms each on two stages: 18 ms of kernels, and one pass of each kind of bubble.
        self.assertAlmostEqual(parts["timed"], 18e3, delta=1)
        self.assertAlmostEqual(parts["pipeline bubble"], 6e3, delta=100)
        self.assertIn("the peak is not known", explain(PIPELINE_BY_HAND, "--no-levers").stdout)

    def test_elasticities_are_finite_differences_of_runs(self):
        found = self.found(MAIN_JOB, "--strategy", "concurrent")
        levers = {lever["name"]: lever for lever in found["levers"]}
        for name, key in (("arithmetic of GPUs", "gpu.flops_scale"), ("HBM bandwidth", "gpu.hbm_scale"), ("links of the node", "node.link_scale")):
            with self.subTest(lever=name):
                low, high, better = (self.time_of(MAIN_JOB, f"{key}={factor}", strategy=1) for factor in (1 / 1.1, 1.1, 1.5))
                lever = levers[name]
                self.assertAlmostEqual(lever["elasticity"], math.log(high / low) / (2 * math.log(1.1)), delta=1e-4)
                self.assertAlmostEqual(lever["time_improved_us"], better, delta=1e-3)
        self.assertLess(levers["arithmetic of GPUs"]["elasticity"], -0.3)
        # A factor that the file has is the base of the steps.
        scaled = self.found(MAIN_JOB, "--strategy", "concurrent", keys=["+node.link_scale=2"])
        low = self.time_of(MAIN_JOB, f"node.link_scale={2 / 1.1}", strategy=1)
        self.assertAlmostEqual({lever["name"]: lever for lever in scaled["levers"]}["links of the node"]["time_at_low_us"], low, delta=1e-3)

    def test_draws_give_percentiles_of_levers(self):
        file, keys = STEPS[0]
        for each in self.found(file, "--draws", "2", keys=keys)["levers"]:
            self.assertLessEqual(each["elasticity_p5"], each["elasticity_p95"])

    def test_choices_are_runs_by_hand_of_the_same_tokens_for_the_largest_parts_and_no_latency_is_a_choice(self):
        file, keys = STEPS[1]  # gathers and sums over eight tensor-parallel ranks, which nothing hides
        found = self.found(file, keys=keys)
        parts = sorted(found["parts"], key=lambda its: -its["time_us"])
        self.assertIn("communication: tensor parallel", {part["name"] for part in parts[:3]})
        choices = {its["change"]: its for its in found["choices"]}
        self.assertLessEqual({"tensor_overlap ring", "tensor_overlap user_buffers", "tensor_overlap chunks"}, set(choices))
        self.assertLessEqual({its["part"] for its in found["choices"]}, {part["name"] for part in parts if part["time_us"] > 0.01 * found["time_us"]})
        self.assertLessEqual(len({its["part"] for its in found["choices"]}), 3)
        for change in ("tensor_overlap ring", "tensor_overlap chunks"):
            with self.subTest(choice=change):
                self.assertIsNone(choices[change]["problem"])
                self.assertAlmostEqual(choices[change]["time_us"] / self.time_of(file, *keys, *choices[change]["sets"]), 1, delta=1e-9)
        best = min((its["time_us"], its["change"]) for its in found["choices"] if its["problem"] is None)
        self.assertEqual([its["time_us"] for its in found["choices"] if its["problem"] is None],
                         sorted(its["time_us"] for its in found["choices"] if its["problem"] is None))
        if best[0] < 0.995 * found["time_us"]:
            self.assertIn(f"Change first, without other hardware: {best[1]}, which saves ", found["words"])
        self.assertNotRegex(found["words"], "Change first[^.]*latency")

    def test_what_binds_a_replay_of_slow_hosts_is_the_time_of_hosts(self):
        for rank in range(2):
            (self.folder / f"rank{rank}.json").write_text(json.dumps(trace(rank)))
        done = c3sim("import", "rank0.json", "rank1.json", "-o", "replay", "-q", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(c3sim("-q", "explain", self.folder / "replay/experiment.toml", "--json").stdout)
        self.assertEqual(found["levers"][0]["name"], "time of hosts")
        self.assertGreater(found["levers"][0]["elasticity"], 0.5)
        self.assertIn("What binds is time of hosts: 1 % less saves ", found["words"])

    def test_the_text_says_what_binds_and_what_to_change(self):
        text = explain(MAIN_JOB, "--strategy", "concurrent", "-j", "2").stdout
        self.assertRegex(text, r"^c3_llama70b_mi300x on mi300x-8, strategy concurrent: mean of 1 seed\n")
        self.assertRegex(text, r"\nflops at peak +[\d.]+ +[\d.]+% +100.0% +closed form +- +-\n")
        self.assertRegex(text, r"\nconcurrent takes [\d.]+ ms, [\d.]+% of the peak\. The largest part is .+: [\d.]+% of the time\. What binds is .+, and 1\.5 times (as much|less) would save [\d.-]+%\. .+\.\n$")

    def test_a_picture_is_drawn(self):
        (self.folder / "explain.json").write_text(explain(MAIN_JOB, "--strategy", "concurrent", "--json").stdout)
        (self.folder / "memory.json").write_text(c3sim("-q", "memory", STEPS[0][0], "--json", "--no-changes").stdout)
        for script in ("explain", "memory"):
            done = subprocess.run([sys.executable, "-B", SOURCE / f"results/python/plot_{script}.py", self.folder / f"{script}.json",
                                   "-o", self.folder / "picture.svg"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("<svg", pathlib.Path(self.folder / "picture.svg").read_text())

    def test_a_step_that_does_not_fit_is_explained_all_the_same(self):
        keys = ["training.micro_batch=8"]
        found = self.found(TRAINING / "llama3_8b_fsdp8.toml", "--no-levers", keys=keys)
        self.assertAlmostEqual((found["at_peak_us"] + sum(part["time_us"] for part in found["parts"])) / found["time_us"], 1, delta=1e-9)
        self.assertEqual(c3sim("-q", "run", TRAINING / "llama3_8b_fsdp8.toml", *(word for key in keys for word in ("--set", key))).returncode, 4)

    def test_who_stops_the_levers_keeps_the_waterfall(self):
        words = [word for key in QUICK for word in ("--set", key)]
        with subprocess.Popen([COMMAND, "-q", "explain", TRAINING / "llama3_8b_fsdp8.toml", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as stopped:
            first = stopped.stdout.readline()
            stopped.send_signal(signal.SIGINT)
            rest = stopped.stdout.read()
        self.assertEqual(stopped.returncode, 130)
        self.assertIn("strategy default", first)
        self.assertRegex(rest, r"(?m)^the run .*100\.0%")
        self.assertRegex(rest, r"(?m)^critical path ")
        self.assertNotIn("elasticity", rest)

    def test_what_cannot_be_explained_is_refused(self):
        self.assert_one_line(explain(MAIN_JOB, "--strategy", "concurent"), 2, "--strategy: unknown strategy 'concurent'.*did you mean 'concurrent'")
        self.assert_one_line(explain(MAIN_JOB, keys=["gpu.hbm_raed=1"]), 3, "did you mean")


if __name__ == "__main__":
    unittest.main()
