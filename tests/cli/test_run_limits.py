"""`c3sim run` says how long it takes, stops when it is told to, and keeps what is finished."""

import json
import re
import resource
import signal
import subprocess
import time
import unittest

import h5py

from command import COMMAND, ScratchTest, c3sim

STOPS_WITHIN = 10  # seconds of work: on a busy machine a second of the clock is less


def used_by_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def job(size, k, times=1):
    """A product of size x size x k, so many times one after the other, beside an all-gather."""
    product = f'{{ gemm = {{ m = {size}, n = {size}, k = {k}, dtype = "bf16" }} }}'
    return f"""
schema = 1
system = "mi300x-8"
[[stream]]
name = "a"
run = [{", ".join([product] * times)}]
[[stream]]
name = "b"
run = [{{ all_gather = "16 MiB" }}]
"""


SMALL = job(size=1024, k=1024)
LONG = job(size=262144, k=64, times=6)  # the largest product that fits: 25 s of a fast machine per simulation
QUICK_TWO = "[strategy.serial]\nserial = true\n[strategy.concurrent]\n"
# 5 partitions of one stream times 5 of the other: far more simulations than the two strategies before it.
SLOW_THIRD = '[strategy.swept]\na.cus = "best 8..128"\nb.cus = "best 8..128"\n'
ONE_REPETITION = "[measure]\nseeds = 1\nloss_split = false\n"


def measured(seeds, draws=0):
    return f"[measure]\nseeds = {seeds}\ndraws = {draws}\nloss_split = false\n"


class RunLimits(ScratchTest):
    def experiment(self, text, name="job"):
        (self.folder / f"{name}.toml").write_text(text)
        return f"{name}.toml"

    def limited(self, text, seconds, *arguments):
        begun = used_by_children()
        done = c3sim("run", self.experiment(text), "-o", "job.h5", "--timeout", seconds, *arguments, folder=self.folder)
        self.assertLess(used_by_children() - begun, float(seconds) + STOPS_WITHIN)
        self.assertEqual(done.returncode, 124, done.stderr)
        return done

    def test_a_time_limit_that_is_none_is_a_usage_error(self):
        for limit in ("abc", "0", "-1", "5 parsecs", "nan", "1e300"):
            done = c3sim("run", self.experiment(SMALL + QUICK_TWO), "--timeout=" + limit, folder=self.folder)
            self.assert_one_line(done, 2, r"^c3sim: --timeout '.*': must be a time above 0, such as 90")

    def test_a_run_within_its_limit_is_not_changed_by_it(self):
        text = SMALL + QUICK_TWO + ONE_REPETITION
        done = c3sim("run", self.experiment(text), "--timeout", "10m", "-o", "a.h5", "-q", folder=self.folder)
        free = c3sim("run", self.experiment(text), "-o", "b.h5", "-q", folder=self.folder)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, free.stdout, ""))

    def interrupt_in_the_third(self):
        """SIGINT when the second strategy's trace has begun: the first is finished, the third is not."""
        text = SMALL + QUICK_TWO + SLOW_THIRD + measured(1000)
        command = [COMMAND, "run", self.experiment(text), "-o", "job.h5", "--trace", "traces", "--json"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            deadline = time.monotonic() + 300
            while process.poll() is None and time.monotonic() < deadline:
                if any(path.stat().st_size > 0 for path in (self.folder / "traces").glob("concurrent/*")):
                    break
                time.sleep(0.02)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=20 * STOPS_WITHIN)
        self.assertEqual(process.returncode, 130, stderr)
        return json.loads(stdout), stderr

    def test_ctrl_c_keeps_what_is_finished_and_says_so(self):
        printed, stderr = self.interrupt_in_the_third()
        kept = [strategy["strategy"] for strategy in printed["strategies"]]
        self.assertIn(kept, (["serial"], ["serial", "concurrent"]))
        names = "serial is" if len(kept) == 1 else "serial, concurrent are"
        self.assertIn(f"c3sim: interrupted after {len(kept)} of 3 strategies: {names} in job.h5\n", stderr)
        self.assertEqual(printed["missing_strategies"], ["serial", "concurrent", "swept"][len(kept):])
        with h5py.File(self.folder / "job.h5") as file:
            self.assertEqual(sorted(file["strategies"]), sorted(kept))
            self.assertRegex(file.attrs["incomplete"], rf"^interrupted: {len(kept)} of 3 strategies")
            for strategy in printed["strategies"]:
                summary = file["strategies"][strategy["strategy"]]["summary"]
                self.assertAlmostEqual(summary["time"][0] / 1e6, strategy["time_us"], places=5)  # ps in the file
        self.assertEqual([path for path in self.files() if "swept" in path or path.endswith(".tmp")], [])
        self.assertEqual(c3sim("inspect", "job.h5", folder=self.folder).returncode, 0)

    def test_what_was_written_of_an_only_run_goes_when_its_strategy_is_not_finished(self):
        # Both strategies are written down as they run, first; then the loss split of the second takes 15 simulations.
        text = job(size=196608, k=1024) + QUICK_TWO + "[measure]\nseeds = 1\n"
        command = [COMMAND, "run", self.experiment(text), "-o", "job.h5", "--trace", "traces"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            for line in process.stderr:
                at = re.search(r"simulation (\d+) of 19", line)
                if at and int(at.group(1)) > 5:
                    break
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=20 * STOPS_WITHIN)
        self.assertEqual(process.returncode, 130)
        self.assertIn("c3sim: interrupted after 1 of 2 strategies: serial is in job.h5\n", stderr)
        with h5py.File(self.folder / "job.h5") as file:
            self.assertEqual(list(file["strategies"]), ["serial"])
        self.assertEqual([path for path in self.files() if "concurrent" in path or path.endswith(".tmp")], [])

    def test_a_time_limit_that_nothing_met_leaves_nothing(self):
        done = self.limited(SMALL + QUICK_TWO + measured(1000, 1000), "2")
        self.assertRegex(done.stderr, r"c3sim: stopped by --timeout 2( before the first of 2 strategies was finished)?, nothing was written\n$")
        self.assertEqual((done.stdout, self.files()), ("", ["job.toml"]))

    def test_a_long_study_is_announced_with_its_largest_factor(self):
        for text, factor in ((measured(1000, 300), r"1000 seeds \(--set measure\.seeds=N\)"),
                             (measured(300, 1000), r"1000 draws \(--set measure\.draws=N\)")):
            done = self.limited(job(size=4096, k=4096) + QUICK_TWO + text, "8")
            self.assertRegex(done.stderr, rf"^this takes about \d+:\d\d:\d\d for \d+ simulations; the largest factor is {factor}")
            self.assertRegex(done.stderr, r"\nsimulation \d+ of \d+.*, \d+:\d\d:\d\d left\n")

    def test_a_thousand_strategies_are_the_factor_and_many_are_kept(self):
        strategies = "".join(f"[strategy.s{i}]\nb.priority = {i % 5}\n" for i in range(1000))
        text = job(size=16384, k=8192) + strategies + measured(8)
        done = self.limited(text, "10")
        self.assertRegex(done.stderr, r"the largest factor is (1000 strategies|8 seeds)")

    def test_one_long_simulation_shows_how_far_it_is(self):
        done = self.limited(LONG + QUICK_TWO + ONE_REPETITION, "8")
        self.assertRegex(done.stderr, r"(?m)^simulation \d of 4 at [\d.]+ .*[mu]?s")
        # "At least": the simulations so far were smaller than the one in flight. A fast machine has timed enough to say more.
        self.assertRegex(done.stderr, r"((at least )?\d+:\d\d:\d\d left|the largest factor is a single simulation .*)\n")

    def test_quiet_says_only_why_it_ended(self):
        done = self.limited(LONG + QUICK_TWO + ONE_REPETITION, "7", "-q")
        self.assertEqual(done.stderr, "c3sim: stopped by --timeout 7 before the first of 2 strategies was finished, nothing was written\n")

    def test_what_is_large_stops_in_time(self):
        gemm = '{ gemm = { m = 512, n = 512, k = 512, dtype = "bf16" } }'
        stream = 'schema = 1\n{system}\n[[stream]]\nname = "a"\nrun = [{run}]\n[strategy.now]\n'
        many = stream.format(system='system = "mi300x-8"', run=",".join([gemm] * 100_000))
        system = 'system = "h100-sxm-8"\nnodes = {}'
        wide, apart = (stream.format(system=system.format(nodes), run='{ all_reduce = "16 MiB" }') for nodes in (14_000, 1024))
        apart += '[measure]\nfold = "none"\n'
        for name, text in (("100,000 operations", many), ("14,000 nodes", wide), ("1,024 nodes unfolded", apart)):
            with self.subTest(name):
                self.limited(text, "3", "-q")


    def test_too_little_memory_says_what_was_large(self):
        text = ('schema = 1\nsystem = "h100-sxm-8"\nnodes = 256\n[[stream]]\nname = "a"\nrun = [{ all_reduce = "1 GiB" }]\n'
                "[strategy.now]\n[measure]\nfold = 'none'\n")
        limit = 150_000_000  # bytes of address space
        done = c3sim("run", self.experiment(text), "-q", folder=self.folder,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assert_one_line(done, 74, r"^c3sim: out of memory: simulating job: 2048 GPUs, each simulated, with 1 operations each.* needs more than the 0\.[12] GB ")
        self.assertEqual([path for path in self.files() if path.endswith((".h5", ".tmp"))], [])


if __name__ == "__main__":
    unittest.main()
