"""A timeline that c3sim writes is imported with all shapes, and a change does to the import what it does to the experiment."""

import collections
import json
import unittest

import h5py

from command import ScratchTest, c3sim

STEP = """
schema = 1
system = "mi300x-8"
[[stream]]
name = "compute"
run = [{ gemm = { m = 8192, n = 8192, k = 4096, dtype = "bf16" } }, { record = "first" },
       { kernel = { op = "attention", b = 2, heads = 16, seq = 4096, head_dim = 128, causal = true, dtype = "bf16" } },
       { wait = "gathered" }, { gemm = { m = 8192, n = 8192, k = 8192, dtype = "bf16" } }]
[[stream]]
name = "comm"
run = [{ wait = "first" }, { all_gather = "1 GiB" }, { record = "gathered" }]
[strategy.plain]
[measure]
seeds = 3
loss_split = false
"""

NODES = """
schema = 1
system = "mi300x-8"
nodes = 2
[[stream]]
name = "compute"
run = [{ gemm = { m = 8192, n = 8192, k = 4096, dtype = "bf16" } }, { record = "first" },
       { gemm = { m = 8192, n = 8192, k = 8192, dtype = "bf16" } }]
[[stream]]
name = "tp"
run = [{ wait = "first" }, { all_reduce = { size = "256 MiB", groups = { size = 8 } } }]
[[stream]]
name = "dp"
run = [{ wait = "first" }, { all_gather = "512 MiB" }]
[straggler.hot]
ranks = [3]
factor = 1.2
[strategy.plain]
[measure]
loss_split = false
"""


class RoundTrip(ScratchTest):
    def run_json(self, experiment, *sets, trace=None):
        words = [word for value in sets for word in ("--set", value)]
        done = c3sim("run", experiment, "--json", "-o", "out.h5", *words, *(("--trace", trace) if trace else ()), folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["strategies"][0], done.stderr

    def import_step(self, text=STEP):
        (self.folder / "step.toml").write_text(text)
        step, _ = self.run_json("step.toml", trace="traces")
        done = c3sim("import", "traces/plain", "-o", "replay", "--system", "mi300x-8", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return step, done

    def assert_alike(self, imported, direct):
        exposed = [run["classes"][0]["exposed_us"] for run in (imported, direct)]
        self.assertAlmostEqual(imported["time_us"] / direct["time_us"], 1, delta=0.03)
        self.assertAlmostEqual(exposed[0] / exposed[1], 1, delta=0.05)

    def test_one_file_is_imported_as_the_eight_ranks_for_which_it_stands(self):
        _, done = self.import_step()
        program = json.loads(c3sim("inspect", "replay/program.h5", "--json", folder=self.folder).stdout)
        self.assertEqual([rank["rank"] for rank in program["ranks"]], list(range(8)))
        self.assertEqual({rank["work"] for rank in program["ranks"]}, {4})
        self.assertIn("100.0 % (32 of 32) are modelled", done.stderr)

    def test_changes_do_to_the_import_what_they_do_to_the_step(self):
        step, _ = self.import_step()
        imported, _ = self.run_json("replay/experiment.toml", "trace.replay=modelled", "measure.seeds=3")
        self.assert_alike(imported, step)
        for direct, on_import in (("strategy.plain.comm.priority=1", "strategy.replay.stream8.priority=1"),
                                  ('strategy.plain.comm.backend="dma"', 'strategy.replay.stream8.backend="dma"'),
                                  ("strategy.plain.comm.cus=16", "strategy.replay.stream8.cus=16"),
                                  ("system=h100-sxm-8", "system=h100-sxm-8")):
            with self.subTest(change=direct):
                changed, _ = self.run_json("step.toml", direct)
                self.assertGreater(abs(changed["time_us"] / step["time_us"] - 1), 0.001)
                imported, _ = self.run_json("replay/experiment.toml", "trace.replay=modelled", "measure.seeds=3", on_import)
                self.assert_alike(imported, changed)

    def test_files_of_classes_of_two_nodes_are_imported_as_all_their_ranks(self):
        direct, done = self.import_step(NODES)
        self.assertEqual(len(list((self.folder / "traces/plain").iterdir())), 3)
        self.assertIn("100.0 % (64 of 64) are modelled", done.stderr)
        with h5py.File(self.folder / "replay/program.h5") as file:
            members = collections.Counter(zip(file["members/collective"][:], file["members/rank"][:]))
            sizes = collections.Counter(file["members/collective"][:].tolist())
        self.assertEqual(set(members.values()), {1})
        self.assertEqual(sorted(sizes.values()), [8, 8, 16])  # a sum in each node, and a gather over both
        imported, _ = self.run_json("replay/experiment.toml", "trace.replay=modelled", "straggler.hot={ ranks = [3], factor = 1.2 }")
        self.assert_alike(imported, direct)

    def test_a_replay_that_its_hosts_bind_says_so(self):
        self.import_step()
        for mode in ("recorded", "modelled"):
            _, notes = self.run_json("replay/experiment.toml", f"trace.replay={mode}")
            self.assertNotIn("hosts bind", notes)
        events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 2031, "pid": 9, "tid": 1, "args": {}},
                  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 2000, "dur": 5, "pid": 9, "tid": 1, "args": {"correlation": 1}},
                  {"ph": "X", "cat": "kernel", "name": "k", "ts": 2010, "dur": 20, "pid": 0, "tid": 7, "args": {"stream": 7, "device": 0, "correlation": 1}},
                  {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "ts": 2006, "dur": 25, "pid": 9, "tid": 1, "args": {"correlation": 2}}]
        (self.folder / "slow.json").write_text(json.dumps({"traceEvents": events}))
        done = c3sim("import", "slow.json", "-o", "slow", "--system", "mi300x-8", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        _, notes = self.run_json("slow/experiment.toml", "trace.replay=modelled")
        self.assertIn("trace: hosts bind the recorded run: 2.010 of 2.030 ms would remain if kernels, copies and collectives took no time",
                      notes)


if __name__ == "__main__":
    unittest.main()
