"""What the command says before its results: keys that do not matter, memory that is too small; and what it lists."""

import json
import re
import time
import unittest

from command import MAIN_JOB, SOURCE, ScratchTest, c3sim

JOB = """schema = 1
system = "mi300x-8"
[[stream]]
name = "a"
run = [{ gemm = { m = 1024, n = 1024, k = 1024, dtype = "bf16" } }]
[[stream]]
name = "b"
run = [{ all_gather = "16 MiB" }]
[strategy.concurrent]
[measure]
loss_split = false
"""


class Notes(ScratchTest):
    def run_job(self, *words):
        (self.folder / "job.toml").write_text(JOB)
        return c3sim("run", "job.toml", *words, folder=self.folder)

    def test_a_run_names_the_override_that_changes_no_time(self):
        plain = json.loads(self.run_job("--json").stdout)
        done = self.run_job("--json", "--set", "gpu.dma_sync=1 us")
        self.assertRegex(done.stderr, r"(?m)^note: gpu.dma_sync: not used here: ")
        self.assertEqual([strategy["time_us"] for strategy in json.loads(done.stdout)["strategies"]],
                         [strategy["time_us"] for strategy in plain["strategies"]])
        self.assertEqual(self.run_job("-q", "--set", "gpu.dma_sync=1 us").stderr, "")

    def test_a_run_names_the_faster_method_that_its_library_leaves_aside(self):
        (self.folder / "gather.toml").write_text('schema = 1\nsystem = "gb200-nvl72"\n[[stream]]\nname = "a"\n'
                                                 'run = [{ all_gather = "256 MiB" }]\n[strategy.usual]\n[strategy.again]\n'
                                                 '[strategy.ll128]\na.algorithm = "ring"\na.protocol = "ll128"\n')
        for factor, says in ((3, False), (4, True)):
            words = ("run", "gather.toml", "--set", f"+node.link_scale={factor}")
            usual, again, pinned = json.loads(c3sim(*words, "--json", folder=self.folder).stdout)["strategies"]
            self.assertNotIn("notes", pinned)
            self.assertEqual(usual.get("notes", []), again.get("notes", []))
            self.assertEqual("notes" in usual, says)
        self.assertGreater(usual["time_us"], 1.5 * pinned["time_us"])
        self.assertRegex(usual["notes"][0], r"^all_gather of 268\.435 MB over 72 GPUs, alone: NCCL 2\.30\.7 takes ring simple "
                                            r"\(.* us, limit latency\); ring ll128 would take 46 % less \(.* us, limit channels\)$")
        text = " ".join(c3sim(*words, "-q", folder=self.folder).stdout.split())
        self.assertEqual(text.count(f"usual, again: {usual['notes'][0]}"), 1)

    def test_an_override_of_a_peak_alone_moves_the_times(self):
        asks = (("gpu.hbm_peak", "2.65 TB/s", ("kernel", "softmax", "--gpu", "mi300x", "--rows", "65536", "--cols", "4096")),
                ("gpu.bf16_peak", "0.65 PFLOP/s", ("kernel", "gemm", "--gpu", "mi300x", "-m", "8192", "-n", "8192", "-k", "8192")),
                ("node.link_raw", "32 GB/s", ("collective", "all_gather", "--system", "mi300x-8", "--min", "1 GiB",
                                               "--max", "1 GiB")))
        for key, value, words in asks:
            with self.subTest(key=key):
                dtype = ("--dtype", "bf16") if words[0] == "kernel" else ()
                plain = json.loads(c3sim(*words, *dtype, "--json").stdout)
                done = c3sim(*words, *dtype, "--json", "--set", f"{key}={value}")
                self.assertNotIn("not used here", done.stderr)
                self.assertGreater(self.time_of(json.loads(done.stdout)), 1.1 * self.time_of(plain))

    def test_a_step_names_the_keys_of_its_framework_that_change_no_time(self):
        step = ('schema = 1\nsystem = "h100-sxm-8"\nmodel.use = "llama-3-8b"\nmodel.layers = 2\nmodel.dtype = "bf16"\n[training]\n'
                'framework = "{}"\nsequence = 512\nmicro_batch = 1\nsharding = "{}"\nlora.rank = 16\n[strategy.step]\n'
                '[framework]\nreserved = "1 GiB"\n')
        keys = {"prefetch": 3, "flat_parameters": "true", "first_bucket": '"1 kB"', "overlaps_tensor": "true", "syncs_routing": "true"}
        for framework, sharding, used in (("torchtitan", "fsdp", {"prefetch", "flat_parameters"}), ("nemo", "ddp", {"first_bucket"})):
            (self.folder / "step.toml").write_text(step.format(framework, sharding))
            plain = self.time_of(json.loads(c3sim("run", "step.toml", "--json", folder=self.folder).stdout)["strategies"][0])
            for key, value in keys.items():
                with self.subTest(sharding=sharding, key=key):
                    done = c3sim("run", "step.toml", "--json", "--set", f"+framework.{key}={value}", folder=self.folder)
                    named = re.findall(r"(?m)^note: framework\.(\w+): not used here: ", done.stderr)
                    self.assertEqual(named, [] if key in used else [key])
                    if key not in used:
                        self.assertEqual(self.time_of(json.loads(done.stdout)["strategies"][0]), plain)

    @staticmethod
    def time_of(answer):
        return answer["rows"][0]["time_us"] if "rows" in answer else answer["time_us"]

    def test_kernels_and_collectives_name_theirs(self):
        kernel = c3sim("kernel", "softmax", "--gpu", "mi300x", "--rows", "64", "--cols", "64", "--dtype", "bf16",
                       "--set", "gpu.l2_size=9 MiB", "--set", "gpu.dma_sync=1 us")
        self.assertRegex(kernel.stderr, r"note: gpu.dma_sync: not used here: ")
        ring = c3sim("collective", "all_reduce", "--system", "h100-sxm-8", "--min", "1 MiB", "--max", "1 MiB", "--set",
                     "library.link_payload=360 GB/s", "--set", "node.link_both_ways=365 GB/s", "--set", "gpu.bf16_peak=2 PFLOP/s")
        self.assertRegex(ring.stderr, r"note: node.link_both_ways: not used here: library.link_payload is lower")
        self.assertRegex(ring.stderr, r"note: gpu.bf16_peak: not used here: no bf16 matrix product runs")

    def test_a_convolution_s_own_rate_is_used_and_others_are_not(self):
        shape = ("kernel", "convolution", "--gpu", "h100-sxm", "-b", "64", "--channels", "256", "--filters", "256", "--height", "56",
                 "--filter-h", "3", "--pad-h", "1", "--dtype", "fp16", "--json")
        plain = self.time_of(json.loads(c3sim(*shape).stdout))
        done = c3sim(*shape, "--set", 'gpu.fp16_peak="500 TFLOP/s"')
        self.assertNotIn("not used here", done.stderr)
        self.assertGreater(self.time_of(json.loads(done.stdout)), 1.5 * plain)
        self.assertNotIn("not used here", c3sim(*shape, "--set", "gpu.gemm_stages=3").stderr)
        self.assertIn("gpu.fp8_peak: not used here: no fp8 matrix product runs", c3sim(*shape, "--set", 'gpu.fp8_peak="500 TFLOP/s"').stderr)

    def test_buffers_that_do_not_fit_are_infeasible(self):
        done = self.run_job("--set", 'stream.1.run=[{ all_gather = "1000000000 GB" }]')
        self.assert_one_line(done, 4, r"out of GPU memory: .*1e\+09 GB of stream 'b'.* gpu 'mi300x' has 206\.1 GB")
        self.assertEqual(self.files(), ["job.toml"])
        # 150 GB of operands and 100 GB of a gather fit each, and not together.
        gemm = "stream.0.run=[{ gemm = { m = 150000, n = 150000, k = 175000, dtype = \"bf16\" } }]"
        self.assert_one_line(self.run_job("--set", gemm, "--set", 'stream.1.run=[{ all_gather = "100 GB" }]'), 4,
                             r"150 GB of stream 'a' .*100 GB of stream 'b' .* take together 250 GB")

    def test_a_gpu_has_the_memory_that_its_driver_reports(self):
        sizes = {row["name"]: row["hbm_GB"] for row in json.loads(c3sim("list", "gpus", "--json").stdout)["gpus"]}
        self.assertAlmostEqual(sizes["h100-sxm"], 81559 * 2**20 / 1e9)
        self.assertAlmostEqual(sizes["mi300x"], 206.141652992)

    def test_all_experiments_are_listed_with_their_purpose(self):
        rows = json.loads(c3sim("list", "experiments", "--json").stdout)["experiments"]
        files = {row["file"] for row in rows}
        self.assertEqual(files, {str(file) for file in (SOURCE / "configs/experiments").rglob("*.toml")})
        self.assertIn(str(MAIN_JOB), files)
        for row in rows:
            self.assertRegex(row["purpose"], r"^[A-Z].{20,}[.?:]?$", row["file"])

    def test_experiments_of_studies_are_sound(self):
        others = {"systolic_gemm", "vector_machine", "study"}  # GPUs' presets and cards
        files = sorted(file for file in (SOURCE / "studies").rglob("*.toml") if file.stem not in others)
        self.assertIn(SOURCE / "studies/cluster/experts.toml", files)
        for file in files:
            with self.subTest(file.name):
                done = c3sim("config", "check", file)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_bandwidths_are_listed_in_gigabytes_a_second(self):
        rows = json.loads(c3sim("list", "fabrics", "ib-ndr", "--json").stdout)
        self.assertEqual(rows["schema_version"], 3)
        self.assertEqual(rows["fabrics"][0]["nic_raw_GB_s"], 50)

    def test_an_unknown_system_gets_the_suggestion_first(self):
        done = c3sim("collective", "all_reduce", "--system", "h100")
        self.assertRegex(done.stderr, r"unknown node preset 'h100'; did you mean 'h100-sxm-4'\? known: .* and \d+ more\n")
        self.assertLess(len(done.stderr), 400)

    def test_forty_thousand_unknown_keys_take_no_time(self):
        (self.folder / "many.toml").write_text(JOB + "[x]\n" + "".join(f"key{i} = 1\n" for i in range(40_000)))
        begin = time.monotonic()
        self.assert_one_line(c3sim("config", "check", "many.toml", folder=self.folder), 3, "x: unknown key")
        self.assertLess(time.monotonic() - begin, 3)


if __name__ == "__main__":
    unittest.main()
