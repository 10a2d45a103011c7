"""What kernels and collectives moved, as the timeline says, is what the resources carried."""

import json
import pathlib
import tempfile
import unittest

import h5py
import numpy as np

from command import MAIN_JOB, SOURCE, c3sim

KERNEL, COHORT, COLLECTIVE, RANGE = 0, 1, 2, 7  # activities/kind
EXACT = 1e-9

FUSED = SOURCE / "configs/experiments/fused_vs_dma_llama70b.toml"
STEP = SOURCE / "configs/experiments/training/llama3_8b_fsdp8.toml"
TWO_JOBS = SOURCE / "configs/experiments/two_jobs_fat_tree.toml"
T3 = SOURCE / "studies/t3/one.toml"
ONE_SEED = "measure.seeds=1"


class Activities:
    def __init__(self, strategy, names):
        self.columns = {name: item[:] for name, item in strategy["activities"].items()}
        self.names = names[self.columns["name"]]

    def sum(self, column, kinds, gpu=None):
        chosen = np.isin(self.columns["kind"], kinds)
        if gpu is not None:
            chosen &= self.columns["gpu"] == gpu
        return float(self.columns[column][chosen].sum())


class Resources:
    def __init__(self, strategy, names):
        resources = strategy["resources/list"]
        self.names = names[resources["name"][:]]
        self.totals = resources["total"][:]

    def sum(self, wanted):
        return float(sum(total for name, total in zip(self.names, self.totals) if wanted(name)))


class MovedBytes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim moved bytes ")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_file(self, experiment, *sets):
        path = self.folder / "run.h5"
        done = c3sim("run", experiment, "-q", "--json", "-o", path, *(word for one in sets for word in ("--set", one)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return h5py.File(path)

    def assert_accounted(self, file):
        """Of each GPU: bytes of its kernels and collectives beside those of its resources."""
        names = file["names"].asstr()[:]
        for name, strategy in file["strategies"].items():
            activities, resources = Activities(strategy, names), Resources(strategy, names)
            gpus = sorted({int(gpu) for gpu in activities.columns["gpu"] if gpu >= 0})
            for gpu in gpus:
                prefix = f"gpu{gpu}."
                carried = {
                    "hbm": resources.sum(lambda n: n == prefix + "hbm") - resources.sum(lambda n: n == prefix + "hbm.lost"),
                    "hbm_written": resources.sum(lambda n: n == prefix + "hbm.written"),
                    "l2": resources.sum(lambda n: n.startswith(prefix + "xcd") and n.endswith(".l2")),
                }
                moved = {column: activities.sum(column, [KERNEL, COLLECTIVE], gpu)
                         for column in ("hbm_read", "hbm_written", "l2")}
                moved["hbm"] = moved.pop("hbm_read") + moved["hbm_written"]
                for what, bytes_carried in carried.items():
                    with self.subTest(strategy=name, gpu=gpu, what=what):
                        self.assertGreater(bytes_carried, 0)
                        self.assertAlmostEqual(moved[what] / bytes_carried, 1, delta=EXACT)

    def test_the_main_job_at_every_grain(self):
        self.assert_accounted(self.run_file(MAIN_JOB, ONE_SEED))
        for grain in ("step", "edge", "gang"):
            self.assert_accounted(self.run_file(MAIN_JOB, ONE_SEED, f'measure.collective_grain="{grain}"'))
        for grain in ("fluid", "work_group"):
            self.assert_accounted(self.run_file(MAIN_JOB, ONE_SEED, f'measure.kernel_grain="{grain}"'))

    def test_ranks_that_are_simulated_one_by_one(self):
        self.assert_accounted(self.run_file(MAIN_JOB, ONE_SEED, "measure.fold=none"))

    def test_fused_kernels_copy_engines_and_stores_that_nobody_waits_for(self):
        self.assert_accounted(self.run_file(FUSED, ONE_SEED, "model.tokens=2048"))
        self.assert_accounted(self.run_file(T3, ONE_SEED))

    def test_a_training_step_and_its_layers(self):
        file = self.run_file(STEP, ONE_SEED)
        self.assert_accounted(file)
        names = file["names"].asstr()[:]
        activities = Activities(file["strategies/default"], names)
        layers = np.isin(activities.columns["kind"], [RANGE])
        inside = np.isin(activities.columns["parent"], activities.columns["id"][layers])
        self.assertAlmostEqual(activities.columns["hbm_read"][inside].sum() / activities.columns["hbm_read"][layers].sum(), 1,
                               delta=EXACT)

    def test_two_nodes_send_through_their_nics(self):
        file = self.run_file(TWO_JOBS, ONE_SEED)
        names = file["names"].asstr()[:]
        strategy = next(iter(file["strategies"].values()))
        activities, resources = Activities(strategy, names), Resources(strategy, names)
        carried = resources.sum(lambda name: "nic" in name and name.endswith(".out"))
        self.assertGreater(carried, 0)
        self.assertAlmostEqual(activities.sum("nic", [COLLECTIVE]) / carried, 1, delta=EXACT)

    def test_links_and_work_groups(self):
        file = self.run_file(MAIN_JOB, ONE_SEED)
        names = file["names"].asstr()[:]
        for name, strategy in file["strategies"].items():
            with self.subTest(strategy=name):
                activities, resources = Activities(strategy, names), Resources(strategy, names)
                carried = resources.sum(lambda n: n.startswith("link0-") and not n.endswith(".duplex"))
                self.assertAlmostEqual(activities.sum("link", [COLLECTIVE], 0) / carried, 1, delta=EXACT)
                kernels = activities.sum("work_groups", [KERNEL])
                self.assertEqual(activities.sum("work_groups", [COHORT]), kernels)
                self.assertEqual(kernels, self.work_groups())

    @staticmethod
    def work_groups():
        """Of the main job's GEMM, as `c3sim kernel` counts them."""
        done = c3sim("kernel", "gemm", "--gpu", "mi300x", "--dtype", "bf16", "-m", 2048, "-n", 2 * 28672, "-k", 8192, "--json")
        return json.loads(done.stdout)["rows"][0]["work_groups"]

    def test_a_trace_has_them_by_the_names_of_nsight(self):
        done = c3sim("run", MAIN_JOB, "-q", "--json", "-o", self.folder / "run.h5", "--trace", self.folder / "trace", "--set",
                     ONE_SEED)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads((self.folder / "trace/concurrent/rank0.json").read_text())["traceEvents"]
        kernels = [event for event in events if event.get("cat") == "kernel" and "flop" in event["args"]]
        file = h5py.File(self.folder / "run.h5")
        activities = Activities(file["strategies/concurrent"], file["names"].asstr()[:])
        self.assertAlmostEqual(sum(event["args"]["dram__bytes_read.sum"] for event in kernels),
                               activities.sum("hbm_read", [KERNEL]), delta=1)
        for event in kernels:
            args = event["args"]
            moved = args["dram__bytes_read.sum"] + args["dram__bytes_write.sum"]
            self.assertAlmostEqual(args["memory bandwidth (GB/s)"], moved / event["dur"] / 1e3, delta=0.01)
            self.assertAlmostEqual(args["TFLOP/s"], args["flop"] / event["dur"] / 1e6, delta=0.01)


if __name__ == "__main__":
    unittest.main()
