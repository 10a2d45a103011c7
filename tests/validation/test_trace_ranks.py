"""Megatron's 8 ranks in the simulator, beside their recording and as 64."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from measured_data import DATA, skip_without

MEGATRON = [DATA / f"traces/megatron_tp8_a100/kineto_{rank}.json.gz" for rank in range(8)]


def c3sim(*arguments):
    done = subprocess.run([os.environ["C3SIM"], *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        c3sim("import", *MEGATRON, "-o", cls.folder / "replay", "--system", "a100-sxm-80gb-8", "-q")

    def simulate(self, *sets):
        words = [word for value in sets for word in ("--set", value)]
        done = c3sim("run", self.folder / "replay/experiment.toml", "-o", self.folder / "out.h5", "--json", "-q", *words)
        return json.loads(done.stdout)["strategies"][0]

    def test_beside_their_recording(self):
        self.simulate()
        (strategy,) = json.loads(c3sim("diff", self.folder / "out.h5", "--recorded", "--json").stdout)["strategies"]
        print(f"Megatron: {strategy['equal']} of {strategy['matched']} kernels and collectives have the recorded start and duration, to 1 ps")
        self.assertEqual((strategy["matched"], strategy["only_recorded"], strategy["only_simulated"]), (6216, 0, 0))
        self.assertGreaterEqual(strategy["equal"], 6215)  # one start comes before its cause, by the clocks of the trace

    def test_on_more_ranks(self):
        """As its groups are of tensor parallelism, that says nothing of Megatron: it says what 64 ranks cost that are 8 times 8."""
        before = os.times().children_user
        eight = self.simulate("trace.replay=modelled", "gpu.speed_spread=0", "trace.data_parallel=8")
        between = os.times().children_user
        many = self.simulate("trace.replay=modelled", "gpu.speed_spread=0", "trace.data_parallel=64", "nodes=8")
        few_seconds, many_seconds = between - before, os.times().children_user - between
        print(f"Megatron: {few_seconds:.1f} s of CPU on 8 ranks, {many_seconds:.1f} s on 64, {many['flows']} flows")
        self.assertEqual([row["multiplicity"] for row in many["classes"]], 8 * [8])
        for one, eight_times in zip(eight["classes"], many["classes"]):
            self.assertAlmostEqual(one["kernels_us"] / eight_times["kernels_us"], 1.0, delta=1e-3)
            self.assertGreater(eight_times["communication_us"], one["communication_us"])
        self.assertLessEqual(many_seconds, 2.0 * few_seconds)


if __name__ == "__main__":
    skip_without("traces")
    unittest.main()
