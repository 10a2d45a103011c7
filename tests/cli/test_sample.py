"""c3sim sample chooses kernels and iterations, says how far off they may be, and writes what runs."""

import csv
import gzip
import json
import random
import unittest

import h5py

from command import SOURCE, ScratchTest, c3sim

METHODS = ["stem", "allegro", "random", "first", "pka", "sieve"]


class SampleKernels(ScratchTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        self.rows = [(f"void k{i % 5}<a, b>(int)", (1 + i % 5) * draw.uniform(9, 11)) for i in range(5000)]
        self.total = sum(time for _, time in self.rows)
        self.table = self.folder / "k.csv"
        with open(self.table, "w", newline="") as file:
            csv.writer(file).writerows([("name", "duration_us"), *self.rows])

    def sample(self, *arguments):
        done = c3sim("sample", "kernels", self.table, *arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_the_estimate_is_labelled_with_method_bound_and_share_simulated(self):
        found = self.sample("--error", "0.03", "--confidence", "0.99")
        estimate = found["estimate"]
        self.assertEqual((estimate["method"], estimate["bound"], estimate["confidence"]), ("stem", 0.03, 0.99))
        self.assertAlmostEqual(found["total_us"], self.total, delta=1e-6 * self.total)
        self.assertLess(estimate["low_us"], self.total)
        self.assertGreater(estimate["high_us"], self.total)
        self.assertAlmostEqual(found["error"], abs(estimate["time_us"] / self.total - 1), places=6)
        self.assertAlmostEqual(estimate["share_simulated"] * found["speedup"], 1)
        self.assertLessEqual(found["expected_error"], 0.03)

    def test_weights_and_durations_of_the_samples_make_the_estimate(self):
        for method in METHODS:
            with self.subTest(method=method):
                found = self.sample("--method", method)
                samples = found["samples"]
                self.assertAlmostEqual(sum(one["weight"] for one in samples), 5000)
                self.assertAlmostEqual(sum(one["weight"] * one["duration_us"] for one in samples), found["estimate"]["time_us"])
                self.assertEqual(sum(cluster["invocations"] for cluster in found["clusters"]), 5000)
                for one in samples:
                    name, time = self.rows[one["invocation"]]
                    self.assertEqual(one["kernel"], name)
                    self.assertAlmostEqual(one["duration_us"], time)

    def test_the_table_says_the_same_to_people(self):
        text = c3sim("sample", "kernels", self.table).stdout
        self.assertRegex(text, r"k\.csv: 5000 invocations of 5 kernels, ")
        self.assertRegex(text, r"estimate [\d.]+ ms by stem, within 5\.00% at 95% confidence: [\d.]+ ms to [\d.]+ ms\n")
        self.assertRegex(text, r"simulated \d+ invocations, [\d.]+% of the time: [\d.]+ times less\n$")
        self.assertIn(", without a bound\n", c3sim("sample", "kernels", self.table, "--method", "sieve").stdout)

    def test_another_seed_draws_others_and_the_same_seed_the_same(self):
        self.assertEqual(self.sample("--seed", "4"), self.sample("--seed", "4"))
        self.assertNotEqual(self.sample("--seed", "4")["samples"], self.sample("--seed", "5")["samples"])

    def test_compare_shows_the_errors_of_every_method(self):
        found = self.sample("--compare", "--seeds", "40")
        self.assertEqual([row["method"] for row in found["methods"]], METHODS)
        for row in found["methods"][:2]:
            self.assertGreaterEqual(row["within_bound"], 0.95)
            self.assertEqual(row["seeds"], 40)
        self.assertIsNone(found["methods"][3]["bound"])
        self.assertIn("seeds within", c3sim("sample", "kernels", self.table, "--compare", "--seeds", "5").stdout)

    def test_the_reduced_program_runs_and_takes_the_time_of_the_samples(self):
        found = self.sample("-q", "-o", self.folder / "out")
        with open(self.folder / "out/samples.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["invocation"]) for row in rows], [one["invocation"] for one in found["samples"]])
        self.assertEqual(rows[0]["name"], self.rows[int(rows[0]["invocation"])][0])
        done = c3sim("run", "out/reduced.toml", "--json", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        time = json.loads(done.stdout)["strategies"][0]["time_us"]
        cost = sum(one["duration_us"] for one in found["samples"])
        self.assertGreaterEqual(time, cost)
        self.assertLess(time, cost + 10 * (len(rows) + 1))  # launches and gaps

    def test_packed_tables_and_other_headers_are_read(self):
        packed = self.folder / "k.csv.gz"
        packed.write_bytes(gzip.compress(b"Start (ns),Duration (ns),Kernel Name\n0,1000,a\n9,3000,b\n"))
        found = json.loads(c3sim("sample", "kernels", packed, "--json").stdout)
        self.assertEqual(found["kernels"], 2)
        self.assertAlmostEqual(found["total_us"], 4)

    def test_results_of_run_and_imported_runs_are_tables_of_their_kernels(self):
        result, trace = self.folder / "run.h5", self.folder / "trace"
        run = c3sim("run", SOURCE / "configs/experiments/jit_quantization.toml", "-o", result, "--trace", trace)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(result) as file:
            table = file["strategies/concurrent/activities"]
            count = int((table["kind"][:] == 0).sum())
        self.assertEqual(count, 6)
        done = c3sim("sample", "kernels", result, "--strategy", "concurrent", "--json")
        self.assertIn("simulated kernels of strategy 'concurrent'", done.stderr)
        simulated = json.loads(done.stdout)
        self.assertEqual(sum(cluster["invocations"] for cluster in simulated["clusters"]), count)
        folder = next(trace.iterdir())
        imported = c3sim("import", folder, "-o", self.folder / "replay")
        self.assertEqual(imported.returncode, 0, imported.stderr)
        of_trace = json.loads(c3sim("sample", "kernels", folder, "--json").stdout)
        of_program = json.loads(c3sim("sample", "kernels", self.folder / "replay/program.h5", "--json").stdout)
        self.assertAlmostEqual(of_program["total_us"], of_trace["total_us"], delta=1e-6 * of_trace["total_us"])
        self.assert_one_line(c3sim("sample", "kernels", result, "--strategy", "concurent"), 2,
                             "unknown strategy 'concurent'; did you mean 'concurrent'")
        self.assert_one_line(c3sim("sample", "kernels", self.table, "--strategy", "x"), 2, "only results of c3sim run")

    def test_mistakes_are_named_with_their_place(self):
        self.assert_one_line(c3sim("sample", "kernels", self.table, "--method", "stam"), 2, "--method.*stem")
        self.assert_one_line(c3sim("sample", "kernels", self.table, "--error", "0"), 2, "--error")
        self.assert_one_line(c3sim("sample", "kernels", self.table, "--name", "nme"), 3,
                             r"k\.csv:1:1: header: unknown column 'nme'; did you mean 'name'\?")
        self.assert_one_line(c3sim("sample", "kernels", "no.csv"), 74, r"no\.csv")
        self.assert_one_line(c3sim("sample", "kernels", self.table, "--compare", "-o", "x"), 2, "cannot be combined")
        self.assert_one_line(c3sim("sample"), 2, "subcommand")
        empty = self.folder / "zero.csv"
        empty.write_text("name,us\nk,0\n")
        self.assert_one_line(c3sim("sample", "kernels", empty), 2, "no kernel that takes time")


class SampleLengths(ScratchTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(2)
        lengths = [draw.randrange(1, 300) for _ in range(4000)]
        self.slow = self.write("slow.csv", [(i, n, 2 + 0.1 * n) for i, n in enumerate(lengths)])
        self.fast = self.write("fast.csv", [(i, n, 1 + 0.05 * n) for i, n in enumerate(lengths)])

    def write(self, name, rows):
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows([("iteration", "length", "ms"), *rows])
        return self.folder / name

    def test_points_stand_for_the_epoch_within_the_bound(self):
        done = c3sim("sample", "lengths", self.slow, "--json")
        self.assertIn("1 rows of iteration 0 are left out", done.stderr)
        found = json.loads(done.stdout)
        (method,) = found["methods"]
        self.assertEqual((found["iterations"], found["bound"], method["method"]), (3999, 0.01, "seqpoint"))
        self.assertLessEqual(method["error"], 0.01)
        self.assertEqual(sum(point["weight"] for point in method["points"]), 3999)
        self.assertAlmostEqual(sum(point["weight"] * point["time_us"] for point in method["points"]), method["time_us"])

    def test_another_machine_s_log_gives_its_speedup(self):
        found = json.loads(c3sim("sample", "lengths", self.slow, "--other", self.fast, "--compare", "--json").stdout)
        self.assertAlmostEqual(found["other"]["speedup"], 2)
        by_method = {method["method"]: method for method in found["methods"]}
        self.assertEqual(list(by_method), ["seqpoint", "frequent", "median", "worst", "window"])
        self.assertAlmostEqual(by_method["seqpoint"]["speedup"], 2, delta=0.03)
        text = c3sim("sample", "lengths", self.slow, "--other", self.fast, "--compare").stdout
        self.assertRegex(text, r"seqpoint +\d+ ")


LOOP = """schema = 1
[unit.mac]
latency = 4
interval = 1
[[run]]
loop = 1000
run = [{ unit = "mac", reads = ["c"], writes = ["c"] }]
"""


class SampleLoop(ScratchTest):
    def loop(self, *arguments, text=LOOP):
        (self.folder / "loop.toml").write_text(text)
        return c3sim("sample", "loop", self.folder / "loop.toml", *arguments)

    def test_a_chain_takes_its_latencies_and_is_closed_after_two_iterations(self):
        found = json.loads(self.loop("--whole", "--json").stdout)
        self.assertEqual((found["cycles"], found["whole_cycles"], found["instructions"]), (4000, 4000, 1000))
        self.assertLessEqual(found["evaluated_instructions"], 3)
        self.assertEqual(found["loops"], [{"depth": 1, "count": 1000, "evaluated": found["evaluated_iterations"], "period": 1, "cycles": 4, "critical": ["register c"],
                                           "critical_units": ["mac"]}])
        self.assertEqual(json.loads(self.loop("--set", "unit.mac.latency=7", "--json").stdout)["cycles"], 7000)
        self.assertIn("4000 cycles for 1000 instructions, exactly", self.loop().stdout)

    def test_mistakes_are_named_with_their_place(self):
        self.assert_one_line(self.loop(text=LOOP.replace('"mac", r', '"mca", r')), 3, r"loop\.toml:7:\d+: run.*unit: unknown unit 'mca'; did you mean 'mac'\?")
        self.assert_one_line(self.loop(text=LOOP.replace("interval", "intervall")), 3, r"loop\.toml:4:1: unit\.mac\.intervall|interval")
        self.assert_one_line(self.loop(text=LOOP.replace("1000", "0")), 3, r"loop\.toml:6:8: .*loop")


if __name__ == "__main__":
    unittest.main()
