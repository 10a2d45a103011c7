"""Many GPUs: every chunk of a ring fast enough, the same as a gang for next to nothing, what joins 100,000 GPUs built in
seconds, and a pipeline of 16,384 by classes of ranks. Times are compared with each other or held with room for slow and busy machines; the
figures to reach on a quiet one are printed beside them."""

import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

from machine_speed import cpu_budget

MB = 1e6


def bench(*cases):
    arguments = [argument for case in cases for argument in ("--case", case)]
    done = subprocess.run(
        [os.environ["C3SIM"], "bench", "-q", "--json", "--repeat", "3", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return {case["name"]: case for case in json.loads(done.stdout)["cases"]}


PIPELINE = """schema = 1
system = "h100-sxm-8"
nodes = 2048
[fabric]
use = "ib-ndr"
pod_leaves = 16
spine_cores = 16
pod_oversubscription = 7.0
[communicator]
pp = { size = 16, stride = 1024 }
[strategy.now]
"""
STAGES = 16


def exchange(sends=None, receives=None):
    """With the stage so many places further; nothing beyond the first and the last."""
    parts = [f'{what} = [{{ size = "64 MiB", {key} = {offset} }}]'
             for what, key, offset in (("sends", "to", sends), ("receives", "from", receives)) if offset is not None]
    return [f'{{ exchange = {{ over = "pp", {", ".join(parts)} }} }}'] if parts else []


def stage(number, micro_batches, layers):
    """1F1B, tensor parallelism over 8 GPUs, data parallelism over 128."""
    gemm = '{ gemm = { m = 4096, n = 8192, k = 1024, dtype = "bf16" } }'
    reduce = '{ all_reduce = { size = "64 MiB", groups = { size = 8, stride = 1 } } }'
    forward, backward = layers * [gemm, reduce], layers * [gemm, gemm, reduce]
    before, after = -1 if number > 0 else None, 1 if number < STAGES - 1 else None
    ahead = min(STAGES - 1 - number, micro_batches)
    run = ahead * (exchange(receives=before) + forward + exchange(sends=after))
    beside = micro_batches - ahead
    if beside:
        run += exchange(receives=before)
    for left in reversed(range(beside)):
        run += forward + exchange(after, after) + backward + exchange(before, before if left else None)
    run += ahead * (exchange(receives=after) + backward + exchange(sends=before))
    return run + ['{ all_reduce = { size = "2 GiB", groups = { size = 128, stride = 8 } } }']


def pipeline(micro_batches, layers):
    text = PIPELINE
    for number in range(STAGES):
        run = ",\n".join(stage(number, micro_batches, layers))
        text += (f'[[ranks]]\nname = "stage{number}"\nranks = "{1024 * number}-{1024 * number + 1023}"\n'
                 f'[[ranks.stream]]\nname = "s"\nrun = [\n{run},\n]\n')
    return text


def collective(ranks, algorithm, grain):
    """The least CPU seconds of three all-reduces of 1 GiB over H100, and the peak memory of the last."""
    command = [os.environ["C3SIM"], "collective", "all_reduce", "--system", "h100-sxm-8", "--nodes", str(ranks // 8),
               "--algo", algorithm, "--grain", grain, "--min", "1G", "--max", "1G"]
    tries = []
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} exited with {process.returncode}")
        tries.append((used.ru_utime, used.ru_maxrss * 1024))
    return min(seconds for seconds, _ in tries), tries[-1][1]


class ScaleSpeed(unittest.TestCase):
    def test_costs_grow_at_most_like_edges(self):
        # Four times the ranks have four times the edges; twice as much for caches that no longer hold them. Costs that grow
        # like the square of the ranks are 16 times as high.
        for algorithm, grain, ranks, budget, memory in (("tree", "edge", 4096, 5, 400), ("ring", "gang", 16384, 1.5, 400)):
            with self.subTest(algorithm):
                (few, few_bytes), (many, many_bytes) = (collective(n, algorithm, grain) for n in (ranks // 4, ranks))
                print(f"{algorithm} {grain}, {ranks} ranks: {many:.2f} s (to reach: {budget}), {many_bytes / MB:.0f} MB ({memory}); "
                      f"{many / few:.1f} and {many_bytes / few_bytes:.1f} times those of a quarter")
                self.assertLess(many / few, 8)
                self.assertLess(many_bytes / few_bytes, 4)
                self.assertLess(many, cpu_budget(2 * budget))
                self.assertLess(many_bytes, memory * MB)

    def test_a_tree_chunk_by_chunk_needs_memory_for_its_edges(self):
        # 2,016 edges send 1,000 pieces each. Written out they would need 2 GB.
        seconds, memory = collective(64, "tree", "step")
        print(f"tree step, 64 ranks: {seconds:.2f} s, {memory / MB:.0f} MB (100)")
        self.assertLess(memory, 100 * MB)

    def test_a_pipeline_of_16384_gpus_by_classes(self):
        # 32 micro-batches of 8 layers, of which the figure is, take 32 times as many flows.
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "pipe.toml").write_text(pipeline(micro_batches=4, layers=2))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([os.environ["C3SIM"], "run", "pipe.toml", "-o", "pipe.h5", "-q", "--json", "--set",
                                   "measure.loss_split=false"], cwd=folder, capture_output=True, text=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        now = json.loads(done.stdout)["strategies"][0]
        seconds = after.ru_utime - before.ru_utime
        print(f"pipeline of 16 stages, 4 micro-batches, 2 layers on 16,384 GPUs: {len(now['classes'])} classes, "
              f"{now['flows']} flows, {seconds:.2f} s of CPU time")
        self.assertEqual([its["multiplicity"] for its in now["classes"]], STAGES * [1024])
        self.assertLess(now["flows"], 120_000)
        self.assertLess(seconds, cpu_budget(2))

    def test_a_ring_of_512_chunk_by_chunk_and_as_a_gang(self):
        cases = bench("allreduce-512", "ring-512")
        ring, other = cases["allreduce-512"], cases["ring-512"]
        gang = ring["gang"]
        print(
            f"{ring['events_per_s'] / 1e6:.2f} M sends/s (to reach: 1.8), {ring['peak_rss_bytes'] / MB:.0f} MB (60); "
            f"gang {100 * gang['time_error']:+.2f} % (1 %), 1/{1 / gang['ratio_cpu']:.0f} of the CPU time (1/100)"
        )
        self.assertEqual(ring["events"], 2 * 511 * 512 * 4 + 1)  # the sums that every rank stores are one flow
        # A send takes 17 resources, an operation of ring-512 four; but three of four sends cost no solve.
        self.assertGreater(ring["events_per_s"], 0.5 * other["events_per_s"])
        self.assertGreater(ring["ratio_limit"], 0.6)
        self.assertLess(ring["peak_rss_bytes"], 60 * MB)
        self.assertLess(abs(gang["time_error"]), 0.01)
        self.assertLess(gang["ratio_cpu"], 1 / 40)

    def test_a_gang_of_1024_beside_chunk_by_chunk(self):
        # The gang takes a few milliseconds, so that its share is held with room; how it grows with its ranks is the test of
        # 16,384 above.
        gang = bench("allreduce-1024")["allreduce-1024"]["gang"]
        print(f"gang of 1,024: {1e3 * gang['cpu_s']:.1f} ms of CPU, 1/{1 / gang['ratio_cpu']:.0f} of chunk by chunk (to reach: 1/300)")
        self.assertLess(gang["ratio_cpu"], 1 / 100)
        self.assertLess(abs(gang["time_error"]), 0.002)

    def test_16384_gpus_and_the_links_of_100000(self):
        cases = bench("hierarchy-16384", "platform-100000")
        hierarchy, platform = cases["hierarchy-16384"], cases["platform-100000"]
        print(
            f"hierarchical all-reduce over 16,384 GPUs: {hierarchy['cpu_s']:.2f} s (to reach: 2); "
            f"interconnect of 100,000: {platform['cpu_s']:.2f} s (5), {platform['peak_rss_bytes'] / MB:.0f} MB (1,000)"
        )
        self.assertGreater(hierarchy["simulated_us"], 0)
        self.assertLess(hierarchy["cpu_s"], cpu_budget(8))
        self.assertLess(platform["cpu_s"], cpu_budget(20))
        self.assertLess(platform["peak_rss_bytes"], 1000 * MB)


if __name__ == "__main__":
    unittest.main()
