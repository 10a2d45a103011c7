"""[recommendation]: a step of a recommendation model, on one rank and on several, and what is refused at its place."""

import json
import re
import resource
import unittest

import h5py

from command import SOURCE, ScratchTest, c3sim

STEP = """schema = 1
system = "v100-sxm2-8"
[recommendation]
batch      = 2048
dtype      = "fp32"
bottom     = [16, 32]
top        = [64, 1]
input_rate = "8 GB/s"
[[recommendation.table]]
name    = "wide"
count   = 8
rows    = 100_000
cols    = 32
lookups = 10
reuse   = "dlrm_2021"
[[recommendation.table]]
name     = "items"
rows     = 80_000
cols     = 32
lookups  = 16
sharding = "row"
[strategy.step]
[measure]
seeds        = 1
loss_split   = false
alone        = false
kernel_grain = "fluid"
"""
HISTOGRAM = "histogram = [0.2, 0.2, 0.2, 0.2, 0.2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\nrecorded = 500_000"


class Recommendation(ScratchTest):
    def step(self, text=STEP):
        path = self.folder / "step.toml"
        path.write_text(text)
        return path

    def run_step(self, *sets, text=STEP):
        options = [option for each in sets for option in ("--set", each)]
        done = c3sim("run", self.step(text), *options, "--json", "-o", self.folder / "step.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["strategies"][0]

    def test_every_rank_exchanges_indices_sums_and_gradients(self):
        short, long = self.run_step(), self.run_step("recommendation.table.0.lookups=200")
        self.assertGreater(long["time_us"], 1.5 * short["time_us"])
        said = short["throughput"]
        self.assertEqual((said["of"], said["of_step"]), ("samples", 2048))  # of all eight ranks
        self.assertAlmostEqual(said["per_second"], 2048 / short["time_us"] * 1e6, places=3)
        self.assertAlmostEqual(said["per_second_per_gpu"], said["per_second"] / 8, places=3)
        with h5py.File(self.folder / "step.h5") as file:
            names = [name.decode() for name in file["names"][:]]
        for name in ("indices.exchange", "sums.exchange", "gradients.exchange", "rows.reduce_scatter", "gradients.top"):
            self.assertIn(name, names)

    def test_a_histogram_of_ones_own_changes_the_step_as_its_reuse_does(self):
        uniform = self.run_step(text=STEP.replace('reuse   = "dlrm_2021"', ""))
        own = self.run_step(text=STEP.replace('reuse   = "dlrm_2021"', HISTOGRAM))
        self.assertNotEqual(uniform["time_us"], own["time_us"])

    def test_a_host_makes_a_small_step_longer(self):
        self.assertGreater(self.run_step("+recommendation.host=\"lin-2022\"")["time_us"], 1.5 * self.run_step()["time_us"])

    def test_inputs_are_host_copies_that_a_slow_rate_makes_longer(self):
        fast, slow = self.run_step("recommendation.input_rate=\"60 GB/s\""), self.run_step("recommendation.input_rate=\"1 GB/s\"")
        # A rank's 256 samples of 8 x 10 + 16 indices of 8 bytes take 0.2 ms at 1 GB/s.
        self.assertGreater(slow["time_us"], fast["time_us"] + 150)
        self.assertGreater(slow["classes"][0]["communication_us"], fast["classes"][0]["communication_us"] + 150)

    def test_tables_of_the_host_cached_rows_narrow_rows_and_grids_run(self):
        host = STEP.replace('reuse   = "dlrm_2021"', 'reuse   = "dlrm_2021"\nmemory = "host"')
        in_gpu, fetched = self.run_step(), self.run_step(text=host)
        cached = self.run_step(text=host.replace('memory = "host"', 'memory = "host"\ncached = 0.1'))
        self.assertGreater(fetched["time_us"], cached["time_us"])
        self.assertGreater(cached["time_us"], in_gpu["time_us"])
        self.run_step(text=STEP.replace("cols     = 32", "cols     = 8\nprojected = true"))
        with h5py.File(self.folder / "step.h5") as file:
            self.assertIn(b"items.project", file["names"][:])
        self.run_step(text=STEP.replace('system = "v100-sxm2-8"', 'system = "h100-sxm-8"\nnodes = 2').replace('"row"', '"grid"'))
        with h5py.File(self.folder / "step.h5") as file:
            self.assertLessEqual({b"grid.reduce_scatter", b"grid.all_to_all", b"grid.gradients.all_gather"}, set(file["names"][:]))

    def test_a_trace_of_a_step_is_replayed_with_the_bytes_of_each_pair_of_ranks(self):
        self.run_step("recommendation.table.0.count=9")
        traced = c3sim("run", self.step(STEP.replace("count   = 8", "count   = 9")), "--trace", self.folder / "traces", "-o", self.folder / "step.h5")
        self.assertEqual(traced.returncode, 0, traced.stderr)
        done = c3sim("import", self.folder / "traces/step", "-o", self.folder / "replay", "--system", "v100-sxm2-8")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "replay/program.h5") as file:
            names = file["names"].asstr()[:]
            kinds = names[file["collectives/kind"][:]]
            of, sizes = file["sends/collective"][:], file["sends/bytes"][:]
        uneven = [i for i, kind in enumerate(kinds) if kind == "all_to_all_v"]
        self.assertEqual(len(uneven), 3)  # indices, sums, their gradients
        # Rank 0 has two of the nine tables: it sends each rank's 256 samples 2 sums of 32 fp32, others one.
        rows = [sizes[of == i].reshape(8, 8) for i in uneven]
        sums = next(each for each in rows if each[0][1] == 2 * 256 * 32 * 4)
        self.assertEqual(list(sums[:, 0]), [2 * 32768] + 7 * [32768])
        gradients = next(each for each in rows if each[1][0] == 2 * 32768)
        self.assertEqual(gradients.tolist(), sums.T.tolist())
        again = c3sim("run", self.folder / "replay/experiment.toml", "--set", "trace.replay=modelled", "--json", "-o", self.folder / "again.h5")
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_shard_runs_the_fastest_placement_and_keeps_it_in_the_file(self):
        step = STEP.replace("lookups = 10", "lookups = 1")
        for i, lookups in enumerate((80, 40, 40, 20)):
            step = step.replace("[strategy.step]", f'[[recommendation.table]]\nname = "u{i}"\nrows = 500_000\ncols = 32\nlookups = {lookups}\n[strategy.step]')
        searched = step + '[shard]\nplacements = 12\n'
        done = c3sim("run", self.step(searched), "--json", "-o", self.folder / "step.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        note = re.search(r"note: shard: 12 placements were simulated \((.*)\); the fastest, .*, takes ([0-9.]+) ms", done.stderr)
        self.assertTrue(note, done.stderr)
        sharders = dict(each.rsplit(" ", 2)[:2] for each in note[1].split(", "))
        self.assertEqual(list(sharders), ["search", "in_turn", "random", "by_rows", "by_size", "by_lookups", "by_time"])
        best = float(note[2])
        self.assertLessEqual(best, min(map(float, sharders.values())))
        self.assertAlmostEqual(json.loads(done.stdout)["strategies"][0]["time_us"], 1e3 * best, delta=1)
        with h5py.File(self.folder / "step.h5") as file:
            resolved = file.attrs["config_resolved"]
        kept = self.folder / "kept.toml"
        kept.write_text(resolved)
        again = c3sim("run", kept, "--json", "-o", self.folder / "again.h5")
        self.assertEqual((again.returncode, "shard" in again.stderr), (0, False), again.stderr)
        self.assertEqual(json.loads(again.stdout)["strategies"][0]["time_us"], json.loads(done.stdout)["strategies"][0]["time_us"])
        checked = c3sim("config", "check", self.step(searched))
        self.assertEqual((checked.returncode, "shard" in checked.stderr), (0, False), checked.stderr)

    def test_tune_takes_each_candidate_under_the_fastest_of_its_placements(self):
        step = STEP.replace("lookups = 10", "lookups = 1")
        for i, lookups in enumerate((80, 40, 40, 20)):
            step = step.replace("[strategy.step]", f'[[recommendation.table]]\nname = "u{i}"\nrows = 500_000\ncols = 32\nlookups = {lookups}\n[strategy.step]')
        searched = step + '[shard]\nplacements = 3\n[tune.set]\n"shard.sharders" = ["${sharder}"]\n[tune.product]\nsharder = ["in_turn", "by_time"]\n"recommendation.batch" = [2048, 4096]\n'
        file = self.step(searched)
        done = c3sim("-q", "tune", file, "--exact", "--json", "-j", "2", "-o", self.folder / "tuned")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["candidates"], found["refused"], found["failed"], found["open"]), (4, 0, 0, 0))
        for each in found["ranking"]:
            words = [word for key in each["sets"] for word in ("--set", key)]
            run = c3sim("run", file, "--json", "-o", self.folder / "run.h5", *words)
            self.assertIn("placements were simulated", run.stderr)
            self.assertAlmostEqual(json.loads(run.stdout)["strategies"][0]["time_us"] / each["time_us"], 1, delta=1e-9)
        self.assertEqual(found["ranking"][0]["values"]["recommendation.batch"], "2048")

    def processor_seconds(self, *arguments):
        """Of a command that succeeds, and its answer."""
        def spent():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime
        before = spent()
        done = c3sim("-q", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return spent() - before, json.loads(done.stdout)

    def test_tune_searches_the_placements_of_a_candidate_once(self):
        # Two seeds: the candidate is simulated with one and with both. Its search takes most of the time of each command.
        step = STEP.replace("lookups = 10", "lookups = 1").replace("seeds        = 1", "seeds        = 2")
        space = step + '[shard]\nplacements = 400\n[tune.product]\n"recommendation.batch" = [2048]\n'
        run, ran = self.processor_seconds("run", self.step(step + "[shard]\nplacements = 400\n"), "-o", self.folder / "step.h5")
        tune, tuned = self.processor_seconds("tune", self.step(space), "-j", "1", "-o", self.folder / "tuned")
        self.assertAlmostEqual(tuned["ranking"][0]["time_us"] / ran["strategies"][0]["time_us"], 1, delta=1e-9)
        self.assertLess(tune, 1.5 * run)

    def test_shard_is_refused_at_its_place(self):
        for text, message in {
                STEP + "[shard]\nsharders = [\"by_tiem\"]\n": r"shard\.sharders: unknown sharder 'by_tiem'; did you mean 'by_time'",
                STEP + "[shard]\nsharders = []\n": r"shard\.sharders: must be a list of sharders",
                STEP + "[shard]\nplacements = 0\n": r"shard\.placements: must be .*1",
                STEP + "[shard]\nplacement = [0, 1]\n": r"placement: must have a rank for each of the 8 tables without ranks \(it has 2\)",
                STEP + "[shard]\nplacement = [0, 1, 2, 3, 4, 5, 6, 8]\n": r"placement: there is no rank 8 of 8",
                STEP.replace('dtype      = "fp32"', 'dtype = "fp32"\nsharder = "random"') + "[shard]\n": r"sharder: cannot be given with \[shard\]",
                STEP.replace("count   = 8", 'sharding = "row"') + "[shard]\n": r"shard: requires tables by table without ranks",
                'schema = 1\nsystem = "mi300x-8"\n[[stream]]\nname = "a"\nrun = [{ timed = "1 us" }]\n[strategy.a]\n[shard]\n':
                    r"shard: requires \[recommendation\]"}.items():
            with self.subTest(message=message):
                done = c3sim("config", "check", self.step(text))
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertRegex(done.stderr, r"step\.toml:\d+:\d+: ")
                self.assertTrue(re.search(message, done.stderr), done.stderr)

    def test_what_does_not_fit_is_refused_at_its_place(self):
        for text, message in {
                STEP.replace("batch      = 2048", "batch = 2047"): r"recommendation\.batch: must be divisible by the 8 ranks \(it is 2047\)",
                STEP.replace("cols    = 32", "cols = 64", 1): r"cols: must be the 32 of the last bottom layer",
                STEP.replace("lookups = 10", "lookups = 0"): r"lookups: must be .*1",
                STEP.replace('"dlrm_2021"', '"dlrm_2012"'): r"unknown name 'dlrm_2012'; did you mean 'dlrm_2021'",
                STEP.replace('reuse   = "dlrm_2021"', HISTOGRAM.replace(", 0]", "]")): r"histogram: must have 17 shares: .*\(it has 16\)",
                STEP.replace('reuse   = "dlrm_2021"', HISTOGRAM.replace("0.2", "0.1")): r"histogram: the shares must add up to 1, .*0\.500",
                STEP.replace('sharding = "row"', 'sharding = "row"\nranks = [1]'): r"ranks: cannot be given with sharding = \"row\"",
                STEP.replace('sharding = "row"', 'sharding = "grid"'): r"sharding: grid requires several nodes",
                STEP.replace('sharding = "row"', "cached = 0.5"): r"cached: requires memory = \"host\"",
                STEP.replace('sharding = "row"', 'sharding = "data"\nmemory = "host"'): r"memory: host cannot be combined with sharding = \"data\"",
                STEP.replace("cols     = 32", "cols     = 8"): r"cols: must be the 32 of .*; or say projected = true",
                STEP.replace('sharding = "row"', "projected = true"): r"cols: must be less than the 32 of the last bottom layer",
                STEP.replace('system = "v100-sxm2-8"', 'system = "h100-sxm-8"\nnodes = 3').replace("2048", "2400").replace('"row"', '"grid"'): r"cols: must be divisible by the 3 nodes",
                STEP.replace('sharding = "row"', 'sharding = "rows"'): r"did you mean 'row'",
                STEP.replace('sharding = "row"', "ranks = [8]"): r"ranks: there is no rank 8 of 8",
                STEP.replace("batch      = 2048", 'batch = 2048\nhost = "grace"'): r"host: 'grace' has no times of operators",
                STEP.replace("bottom     = [16, 32]", "bottom = []"): r"bottom: must be a list of widths",
                STEP + '[[stream]]\nname = "a"\nrun = [{ timed = "1 us" }]\n': r"recommendation: cannot be combined with"}.items():
            with self.subTest(message=message):
                done = c3sim("config", "check", self.step(text))
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertRegex(done.stderr, r"step\.toml:\d+:\d+: ")
                self.assertTrue(re.search(message, done.stderr), done.stderr)

    def test_tables_beyond_a_gpus_memory_are_a_verdict(self):
        done = c3sim("run", self.step(STEP.replace("rows    = 100_000", "rows = 900_000_000")), "-o", self.folder / "step.h5")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertRegex(done.stderr, r"rank 0 holds 115\.2 GB of tables, and its GPU has 16\.9 GB")

    def test_shipped_models_are_accepted(self):
        for path in sorted((SOURCE / "configs/experiments/dlrm").glob("*.toml")):
            with self.subTest(path=path.name):
                done = c3sim("config", "check", path)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
