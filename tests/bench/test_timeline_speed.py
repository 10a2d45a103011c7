"""The timeline of a long run: written as fast as it is simulated, in little memory, and looked at without being in it.

The full size, 10 M activities with 20 M dependencies and 60 M changes of use (an FSDP step has as many an activity), is
C3SIM_TIMELINE_ACTIVITIES=10000000; what is held here of a tenth of it does not depend on the length."""

import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

ACTIVITIES = int(os.environ.get("C3SIM_TIMELINE_ACTIVITIES", "1000000"))
STEPS = 6  # an activity
LOAD = pathlib.Path(os.environ["C3SIM"]).parent / "c3_timeline_load"
MB = 1e6
SLOWEST = 0.4e6  # activities a second of CPU time; to reach on a quiet machine: 1 M


def run(*command, output=subprocess.PIPE):
    """What it printed, its CPU seconds and its peak memory [B]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(list(map(str, command)), stdout=output, text=True) as process:
        text = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return text, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, usage.ru_maxrss * 1024


class TimelineSpeed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="c3sim timeline ")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.file = pathlib.Path(cls.scratch.name) / "long.h5"
        text, _, _ = run(LOAD, cls.file, ACTIVITIES, STEPS)
        cls.written = json.loads(text)

    def command(self, verb, *arguments, output=subprocess.PIPE):
        text, seconds, peak = run(os.environ["C3SIM"], verb, *arguments, output=output)
        print(f"{verb} {' '.join(map(str, arguments[1:]))}: {seconds:.2f} s of CPU time, {peak / MB:.0f} MB")
        return text, peak

    def test_a_million_activities_a_second_are_written_in_200_mb(self):
        rate = ACTIVITIES / self.written["writer_cpu_s"]
        peak = self.written["peak_rss_bytes"]
        print(f"{ACTIVITIES / 1e6:.0f} M activities: {rate / 1e6:.2f} M/s (to reach: 1), {peak / MB:.0f} MB (200), "
              f"{self.file.stat().st_size / MB:.0f} MB on disk")
        self.assertGreater(rate, SLOWEST)
        self.assertLess(peak, 200 * MB)

    def test_inspect_holds_a_block_of_it(self):
        text, peak = self.command("inspect", self.file)
        self.assertIn(f"activities {ACTIVITIES},", text)
        self.assertLess(peak, 150 * MB)
        _, peak = self.command("inspect", self.file, "--table", "activities", "--csv", output=subprocess.DEVNULL)
        self.assertLess(peak, 150 * MB)

    def test_diff_holds_a_block_of_each(self):
        text, peak = self.command("diff", self.file, self.file)
        self.assertIn("0 with another duration", text)
        self.assertLess(peak, 150 * MB)

    def test_the_page_is_under_5_mb_and_says_what_it_leaves_out(self):
        page = self.file.with_suffix(".html")
        _, peak = self.command("report", self.file, "-q", "-o", page)
        print(f"the page: {page.stat().st_size / MB:.2f} MB")
        self.assertLess(page.stat().st_size, 5 * MB)
        merged = re.search(r"(\d+) slices shorter than 1/1200 of the axis are drawn together", page.read_text())
        self.assertTrue(merged)
        self.assertGreater(int(merged.group(1)), ACTIVITIES / 20)  # most of the 1/15 that are not parts
        self.assertLess(peak, 300 * MB + 60 * ACTIVITIES)


if __name__ == "__main__":
    unittest.main()
