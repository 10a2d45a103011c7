"""c3sim sweep and merge: the same table whoever simulates, and no finished point is lost, whatever happens."""

import csv
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time
import unittest

import h5py
import numpy
import pandas
from command import COMMAND, SOURCE, ScratchTest, c3sim

SWEEP = """\
schema = 1
system = "mi300x-8"
[[stream]]
name = "compute"
run = [{ gemm = { m = 2048, n = 2048, k = 2048, dtype = "bf16" } }]
[[stream]]
name = "comm"
run = [{ all_gather = "8 MiB" }]
[strategy.cu]
[strategy.partitioned]
comm.cus = 8
[measure]
loss_split = false
[sweep]
where = "cus <= 24 or size > 1 MiB"
[sweep.product]
"strategy.partitioned.comm.backend" = ["cu", "dma"]
size = { from = "1 MiB", to = "4 MiB", factor = 2 }
cus = { from = 8, to = 32, step = 8 }
[sweep.set]
"stream.1.run" = [{ all_gather = "${size}" }]
"strategy.partitioned.comm.cus" = "${cus}"
"""
POINTS = 2 * (3 * 4 - 1)

# A point that takes minutes: a step of many layers, every one simulated.
SLOW = SWEEP.replace("m = 2048, n = 2048", "m = 262144, n = 262144").replace(
    "loss_split = false", 'loss_split = false\nkernel_grain = "work_group"')

# A GPU with less memory than weights in one of two points.
STEP = """\
schema = 1
system = "h100-sxm-8"
[model]
use = "llama-3-8b"
dtype = "bf16"
[training]
framework = "pytorch-compiled"
sequence = 2048
micro_batch = 1
sharding = "fsdp"
[strategy.default]
[measure]
loss_split = false
[sweep.product]
"gpu.hbm_size" = ["20 GB", "80 GB"]
"""


def table(path):
    """The merged file as README.md reads it."""
    points = h5py.File(path)["points"]
    return pandas.DataFrame({name: column.asstr()[:] if column.dtype.kind == "O" else column[:] for name, column in points.items()})


class Sweep(ScratchTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "s.toml"
        self.file.write_text(SWEEP)

    def sweep(self, folder, *options, code=0):
        done = c3sim("sweep", self.file, "-o", self.folder / folder, *options, folder=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def merged(self, folder, code=0):
        """The CSV and the HDF5 datasets of a sweep's folder."""
        out = self.folder / f"{folder}.h5"
        done = c3sim("merge", self.folder / folder, "-o", out, "--csv")
        self.assertEqual(done.returncode, code, done.stderr)
        with h5py.File(out) as file:
            datasets = {name: column[:] for name, column in file["points"].items()}
        return (self.folder / f"{folder}.csv").read_text(), datasets

    def assert_same(self, one, other):
        self.assertEqual(one[0], other[0])
        self.assertEqual(list(one[1]), list(other[1]))
        for name, values in one[1].items():
            numpy.testing.assert_array_equal(values, other[1][name], err_msg=name)

    def points(self, folder):
        return {path.name: path.read_bytes() for path in (self.folder / folder / "points").glob("*.json")}


class TestTable(Sweep):
    def test_the_same_table_for_every_way_to_run_it(self):
        self.sweep("one", "-j", 1)
        one = self.merged("one")
        self.assertEqual(len(one[1]["id"]), POINTS)
        self.sweep("two", "-j", 2)
        self.assert_same(one, self.merged("two"))
        for shard in (3, 1, 2, 1):  # in any order, one of them twice
            self.sweep("shards", "--shard", f"{shard}/3", "-j", 1)
        self.assert_same(one, self.merged("shards"))

    def test_the_same_table_by_an_array_job(self):
        self.sweep("one", "-j", 1)
        script = SOURCE / "scripts/sweep.slurm"
        path = f"{pathlib.Path(COMMAND).parent}:{os.environ['PATH']}"
        for task in ("2", "1"):
            job = {**os.environ, "PATH": path, "SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_CPUS_PER_TASK": "1"}
            subprocess.run(["bash", script, self.file, self.folder / "array"], env=job, check=True, capture_output=True)
        self.assert_same(self.merged("one"), self.merged("array"))

    @unittest.skipUnless(shutil.which("mpirun") and (pathlib.Path(COMMAND).parent / "c3sim_mpi.so").exists(), "no Open MPI")
    def test_the_same_table_by_four_mpi_ranks(self):
        self.sweep("one", "-j", 1)
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4", COMMAND, "sweep", self.file,
                               "-o", self.folder / "mpi"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("\n"), 1, done.stdout)  # one rank speaks
        self.assertIn(f"{POINTS} points, {POINTS} done, 0 failed, 0 missing", done.stdout)
        self.assert_same(self.merged("one"), self.merged("mpi"))

    @unittest.skipUnless(shutil.which("mpirun") and (pathlib.Path(COMMAND).parent / "c3sim_mpi.so").exists(), "no Open MPI")
    def test_an_error_of_one_mpi_rank_ends_all(self):
        self.sweep("mpi", "--shard", "1/22")
        other = ["--set", "measure.seed=2"]  # only rank 0 sees that the folder has another sweep
        done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", COMMAND, "sweep", self.file, *other,
                               "-o", self.folder / "mpi"], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("holds another sweep"), 1, done.stderr)

    def test_a_row_is_what_run_says(self):
        self.sweep("out")
        self.merged("out")
        rows = table(self.folder / "out.h5")
        row = rows[(rows.cus == 16) & (rows["size"] == 4 * 2**20) & (rows["strategy.partitioned.comm.backend"] == "dma")]
        command = row.command.iloc[0]
        self.assertTrue(command.startswith("c3sim run "))
        done = subprocess.run(["sh", "-c", command.replace("c3sim", f"'{COMMAND}'", 1) + " --json"], cwd=self.folder,
                              capture_output=True, text=True, check=True)
        for strategy in json.loads(done.stdout)["strategies"]:
            name = strategy["strategy"]
            self.assertEqual(strategy["time_us"], row[f"{name}.time"].iloc[0])
            self.assertEqual(strategy["speedup"], row[f"{name}.speedup"].iloc[0])
            self.assertEqual(strategy["collective"]["alone_us"], row[f"{name}.collective_alone"].iloc[0])

    def test_what_a_reader_finds(self):
        self.sweep("out", "--set", "sweep.seeds=2", "--set", "sweep.product.size=[\"1 MiB\"]")
        text, _ = self.merged("out")
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(file.attrs["schema"], "c3sim.sweep")
            self.assertIn("[sweep.product]", file.attrs["definition"])
            self.assertEqual(file["points/size"].attrs["units"], "B")
            self.assertEqual(file["points/cu.time"].attrs["units"], "us")
            self.assertEqual(file["points/cus"].dtype, numpy.int64)
            names = list(file["points"])
        self.assertEqual(names[:8], ["id", "strategy.partitioned.comm.backend", "size", "cus", "seed", "status", "error", "cu.time"])
        rows = list(csv.DictReader(text.splitlines()))
        self.assertEqual([row["seed"] for row in rows[:4]], ["1", "2", "1", "2"])
        self.assertNotEqual(rows[0]["cu.time_us"], rows[1]["cu.time_us"])
        self.assertEqual(rows[0]["size_B"], str(2**20))

    def test_a_dry_run_lists_the_points_and_writes_nothing(self):
        done = self.sweep("out", "--dry-run")
        self.assertEqual(done.stdout.count("to do"), POINTS)
        self.assertEqual(self.files(), ["s.toml"])


class TestFailures(Sweep):
    def test_a_point_that_fails_keeps_its_error_and_is_tried_again_when_asked(self):
        sets = ["--set", "sweep.product.cus=[8, 12]"]  # 12 is no multiple of the mask granule
        done = self.sweep("out", *sets, code=5)
        self.assertIn("12 points, 6 done, 6 failed, 0 missing", done.stdout)
        self.assertRegex(done.stderr, "failed: .*cus = 12: .*s.toml:[0-9:]+: strategy.partitioned.comm.cus")
        _, rows = self.merged("out", code=5)
        self.assertEqual({b"ok": 6, b"failed": 6}, dict(pandas.Series(rows["status"]).value_counts()))
        self.assertTrue(all(numpy.isnan(rows["cu.time"][rows["status"] == b"failed"])))
        before = self.points("out")
        self.sweep("out", *sets, code=5)
        self.assertEqual(before, self.points("out"))
        failed = next((self.folder / "out/points").glob("*.failed.json"))
        failed.write_text(failed.read_text().replace("granule", "grain"))  # as an older c3sim might have said it
        done = self.sweep("out", *sets, "--retry-failed", "--json", code=5)
        self.assertEqual(before, self.points("out"))
        summary = json.loads(done.stdout)
        self.assertEqual((summary["done"], summary["failed"], len(summary["failures"])), (6, 6, 6))

    def test_a_point_that_takes_too_long_fails_alone(self):
        self.file.write_text(SLOW)
        sets = ["--set", "sweep.product.size=[\"1 MiB\"]", "--set", "sweep.product.cus=[8]",
                "--set", "sweep.product.m=[256, 262144]", "--set", "sweep.set.stream.0.run=[{ gemm = { m = \"${m}\", n = \"${m}\", k = 2048, dtype = \"bf16\" } }]"]
        begun = time.monotonic()
        done = self.sweep("out", *sets, "--point-timeout", "2 s", code=5)
        self.assertLess(time.monotonic() - begun, 30)
        self.assertIn("2 done, 2 failed", done.stdout)
        self.assertIn("took longer than 2 s", done.stderr)

    def test_a_point_that_crashes_fails_alone(self):
        self.file.write_text(SLOW)
        running = subprocess.Popen([COMMAND, "sweep", self.file, "-o", self.folder / "out", "-j", "2", "--set", "sweep.product.size=[\"1 MiB\"]",
                                    "--set", "sweep.product.cus=[8]"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for signal_number in (signal.SIGSEGV, signal.SIGKILL):
            os.kill(self.worker_of(running.pid), signal_number)
            time.sleep(0.3)
        out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 5, err)
        self.assertIn("0 done, 2 failed", out)
        self.assertIn("crashed: signal 11", err)
        self.assertIn("crashed: signal 9", err)

    def test_of_several_points_at_once_one_that_lacks_memory_is_done_again_beside_fewer(self):
        self.file.write_text(SLOW.replace("262144", "32768"))  # about a second
        running = subprocess.Popen([COMMAND, "-q", "sweep", self.file, "-o", self.folder / "out", "-j", "2", "--set", "sweep.product.size=[\"1 MiB\"]",
                                    "--set", "sweep.product.cus=[8]", "--set", "measure.seeds=1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.kill(self.worker_of(running.pid, 2), signal.SIGKILL)
        out, err = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 0, err)
        self.assertIn("2 done, 0 failed", out)
        self.assertEqual(err.count("a simulation was killed, as for lack of memory; it is repeated, and at most 1 run at once from now on\n"), 1)

    def test_a_point_that_is_killed_after_an_interrupt_is_left_for_a_later_call(self):
        self.file.write_text(SLOW.replace("262144", "65536"))
        words = ["sweep", self.file, "-o", self.folder / "out", "-j", "2", "--set", "sweep.product.size=[\"1 MiB\"]", "--set", "sweep.product.cus=[8]",
                 "--set", "measure.seeds=1"]
        running = subprocess.Popen([COMMAND, "-q", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        worker = self.worker_of(running.pid, 2)
        os.kill(running.pid, signal.SIGINT)
        time.sleep(0.2)
        os.kill(worker, signal.SIGKILL)
        _, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, err)
        self.assertEqual([name.endswith(".failed.json") for name in self.points("out")], [False])
        self.assertIn("2 done, 0 failed", c3sim("-q", *words).stdout)

    def worker_of(self, process, workers=1):
        for _ in range(200):
            children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
            if len(children) >= workers:
                return int(children[-1])
            time.sleep(0.05)
        self.fail("no worker")

    def test_a_step_that_does_not_fit_is_a_result(self):
        self.file.write_text(STEP)
        self.sweep("out")
        _, rows = self.merged("out")
        self.assertEqual(list(rows["status"]), [b"out_of_memory", b"ok"])
        self.assertRegex(rows["error"][0].decode(), r"^needs [0-9.]+ GB of 1[0-9.]+ GB, at '.+'$")
        self.assertTrue(all(rows["default.memory_peak"] > 20e9))
        self.assertTrue(numpy.isnan(rows["default.time"][0]) and rows["default.mfu"][1] > 0.2)


class TestLossless(Sweep):
    def test_killed_at_any_moment_and_gone_on_with(self):
        self.sweep("whole", "-j", 2)
        kept = {}
        for kill_after in (0.05, 0.3, 0.5, 0.7, 0.9):
            running = subprocess.Popen([COMMAND, "-q", "sweep", self.file, "-o", self.folder / "out", "-j", "2"], stdout=subprocess.DEVNULL)
            time.sleep(kill_after)
            running.kill()
            running.wait()
            now = self.points("out")
            self.assertEqual(kept, {name: now.get(name) for name in kept})  # what was finished stays as it was
            for text in now.values():
                json.loads(text)  # and nothing is half written
            kept = now
        self.sweep("out", "-j", 2)
        self.assert_same(self.merged("whole"), self.merged("out"))

    def test_an_interruption_lets_points_in_flight_end(self):
        running = subprocess.Popen([COMMAND, "sweep", self.file, "-o", self.folder / "out", "-j", "1", "--set", "measure.seeds=40"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while not self.points("out"):
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does it: to the workers, too
        out, err = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130, err)
        self.assertIn("repeat the command to continue", err)
        self.assertRegex(out, "22 points, [0-9]+ done, 0 failed, [0-9]+ missing")

    def test_two_sweeps_in_one_folder(self):
        self.sweep("whole")
        both = [subprocess.Popen([COMMAND, "-q", "sweep", self.file, "-o", self.folder / "out", "-j", "2"], stdout=subprocess.DEVNULL)
                for _ in range(2)]
        self.assertEqual([process.wait(timeout=120) for process in both], [0, 0])
        self.assert_same(self.merged("whole"), self.merged("out"))

    def test_a_full_disk(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))  # the manifest and results are larger

        self.sweep("out", "--shard", "1/2")
        before = self.points("out")
        done = c3sim("sweep", self.file, "-o", self.folder / "out", preexec_fn=small_files)
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertRegex(done.stderr, "cannot write: File too large")
        self.assertEqual(before, self.points("out"))
        self.sweep("out")
        self.sweep("whole")
        self.assert_same(self.merged("whole"), self.merged("out"))

    def test_a_damaged_point_is_said_so(self):
        self.sweep("out")
        damaged = next((self.folder / "out/points").glob("*.json"))
        damaged.write_text(damaged.read_text()[:100])
        done = c3sim("merge", self.folder / "out")
        self.assert_one_line(done, 74, f"{damaged.name}: cannot read: it is no c3sim.sweep_point file")

    def test_a_point_that_was_edited_is_named_and_simulated_again_and_merging_it_is_refused(self):
        self.sweep("out")
        whole, table = self.points("out"), self.merged("out")
        name = sorted(whole)[3]
        digit = whole[name].index(b'"value": ') + len(b'"value": ')
        other = b"2" if whole[name][digit:digit + 1] == b"1" else b"1"
        for edited in (whole[name][:digit] + other + whole[name][digit + 1:], whole[name][:digit] + b"-" + whole[name][digit:], whole[sorted(whole)[4]]):
            (self.folder / "out/points" / name).write_bytes(edited)
            done = c3sim("merge", self.folder / "out")
            self.assert_one_line(done, 74, f"{name}: cannot read: it (was changed after c3sim wrote it|is a copy of another point)")
            done = self.sweep("out")
            self.assertIn(f"{name}: it was changed after c3sim wrote it, or cut short: it is simulated again\n", done.stderr)
            self.assertEqual(self.points("out"), whole)
        self.assert_same(self.merged("out"), table)

    def test_a_manifest_that_was_edited_is_refused_by_merge_and_written_again_by_sweep(self):
        self.sweep("out")
        manifest = self.folder / "out/manifest.json"
        whole = manifest.read_text()
        manifest.write_text(whole.replace("1048576", "1048577", 1))
        self.assert_one_line(c3sim("merge", self.folder / "out"), 74, "manifest.json: cannot read: it was changed after c3sim wrote it")
        self.assertIn("the manifest of", self.sweep("out").stderr)
        self.assertEqual(manifest.read_text(), whole)

    def test_a_signal_while_points_are_read_ends_with_130_and_writes_nothing(self):
        self.file.write_text(SWEEP.replace("to = 32, step = 8", "to = 248, step = 8").replace("factor = 2", "factor = 1.01"))
        for number in (signal.SIGTERM, signal.SIGINT):
            running = subprocess.Popen([COMMAND, "sweep", self.file, "-o", self.folder / "out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while int(pathlib.Path(f"/proc/{running.pid}/stat").read_text().rsplit(")", 1)[1].split()[11]) < 20:  # of processor time, in 10 ms
                time.sleep(0.01)
            running.send_signal(number)
            out, err = running.communicate(timeout=60)
            self.assertEqual((running.returncode, out, err), (130, "", "c3sim: interrupted\n"))
            self.assertEqual(self.files(), ["s.toml"])

    def test_points_that_were_cut_short_are_simulated_again(self):
        self.sweep("out")
        whole = self.points("out")
        for name, length in zip(sorted(whole), (0, 1, 100)):
            (self.folder / "out/points" / name).write_bytes(whole[name][:length])
        self.sweep("out")
        self.assertEqual(self.points("out"), whole)


class TestBadInput(Sweep):
    def test_usage(self):
        for options, pattern in ((["--shard", "0/2"], "--shard '0/2': must be i/n"), (["--shard", "3/2"], "must be i/n"),
                                 (["--shard", "1"], "must be i/n"), (["--shard", "1/2x"], "must be i/n"),
                                 (["--point-timeout", "3 parsecs"], "--point-timeout"), (["--point-timeout", "0 s"], "--point-timeout"),
                                 (["-j", "0"], "--jobs")):
            self.assert_one_line(c3sim("sweep", self.file, "-o", self.folder / "out", *options), 2, pattern)

    def test_configuration(self):
        self.assert_one_line(c3sim("sweep", SOURCE / "configs/experiments/c3_llama70b_mi300x.toml"), 3, "sweep: is missing")
        done = c3sim("sweep", self.file, "-o", self.folder / "out", "--set", "measre.seeds=2")
        self.assert_one_line(done, 3, "measre: unknown key; did you mean 'measure'")  # all points are wrong: none is begun
        self.assertEqual(self.files(), ["s.toml"])

    def test_folders(self):
        self.sweep("out", "--shard", "1/22")
        done = c3sim("sweep", self.file, "-o", self.folder / "out", "--set", "measure.seed=2")
        self.assert_one_line(done, 2, "out holds another sweep, of .*s.toml; take another folder with -o")
        self.assert_one_line(c3sim("merge", self.folder), 74, "no manifest.json")
        done = c3sim("merge", self.folder / "out")
        self.assertEqual((done.returncode, done.stdout), (5, "22 points: 1 ok, 0 out of memory, 0 failed, 21 missing\n"))

    @unittest.skipIf("OMPI_COMM_WORLD_SIZE" in os.environ, "under mpirun")
    def test_mpirun_without_mpi(self):
        alone = self.folder / "c3sim"
        shutil.copy(COMMAND, alone)
        done = subprocess.run([alone, "sweep", self.file], env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"}, capture_output=True, text=True, check=False)
        self.assert_one_line(done, 2, "built without MPI")


if __name__ == "__main__":
    unittest.main()
