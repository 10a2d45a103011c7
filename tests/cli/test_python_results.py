"""results/python reads what `c3sim run` wrote: its tables add up to the printed one, and the timeline is a picture."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from command import MAIN_JOB, SOURCE, c3sim

TOOLS = SOURCE / "results/python"
sys.path.insert(0, str(TOOLS))
from c3sim_results import Run  # noqa: E402

import matplotlib.image  # noqa: E402

KERNEL_BLUE, COLLECTIVE_ORANGE = (0x3B, 0x6F, 0xB6), (0xD9, 0x7F, 0x1E)


def plot(*arguments):
    return subprocess.run([sys.executable, "-B", TOOLS / "plot_timeline.py", *map(str, arguments)],
                          env={**os.environ, "MPLCONFIGDIR": tempfile.gettempdir()}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)


class PythonResults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim python ")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.path = cls.folder / "run.h5"
        done = c3sim("run", MAIN_JOB, "--set", "measure.seeds=1", "--json", "-q", "-o", cls.path)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.rows = {row["strategy"]: row for row in json.loads(done.stdout)["strategies"]}
        cls.run_ = Run(cls.path)

    # Tables

    def test_strategies_and_streams_are_those_of_the_experiment_in_its_order(self):
        self.assertEqual(self.run_.strategies, list(self.rows))
        self.assertEqual(self.run_.streams, ["compute", "fsdp"])

    def test_the_summary_is_the_printed_table(self):
        summary = self.run_.summary()
        self.assertEqual(list(summary.index), list(self.rows))
        for name, row in self.rows.items():
            mine = summary.loc[name]
            for column in ("time_us", "lower_bound_us", "speedup"):
                self.assertAlmostEqual(mine[column] / row[column], 1, places=6)
            self.assertAlmostEqual(mine.kernel_together_us, row["kernel"]["together_us"], places=4)
            self.assertEqual(mine.isna().loss_hbm_us, row["loss_us"] is None)

    def test_activities_add_up_to_the_times_of_the_table(self):
        for name, row in self.rows.items():
            activities = self.run_.activities(name)
            total = activities.groupby("kind").duration_us.sum()
            self.assertAlmostEqual(total.kernel, row["kernel"]["together_us"], places=4)
            self.assertAlmostEqual(total.collective, row["collective"]["together_us"], places=4)
            self.assertAlmostEqual(activities.end_us.max(), row["time_us"], places=4)
            self.assertEqual(set(activities.name), {"mlp.gate_up", "all_gather next.mlp.gate_up.weight"})

    def test_copies_name_their_engines(self):
        engines = self.run_.activities("dma").query("kind == 'transfer'").engine
        self.assertEqual(sorted(engines), list(range(7)))
        self.assertTrue((self.run_.activities("concurrent").engine == -1).all())

    def test_a_resource_has_the_steps_of_the_file_one_a_date(self):
        stored = self.run_.table("dma", "resources/steps").query("resource == 'gpu0.hbm'")
        self.assertTrue(stored.time_us.is_unique)
        self.assertEqual(self.run_.steps("dma", "gpu0.hbm").used.tolist(), stored.used.tolist())

    def test_steps_name_their_resource_and_hold_one_row_a_date(self):
        cus = self.run_.steps("dma", "gpu0.cus")
        self.assertGreater(len(cus), 10)
        self.assertTrue(cus.time_us.is_monotonic_increasing and cus.time_us.is_unique)
        capacity = self.run_.resources("dma").set_index("name").capacity["gpu0.cus"]
        self.assertEqual((cus.used.max(), cus.used.iloc[-1], capacity), (304, 0, 304))

    def test_collectives_have_their_bandwidth(self):
        [record] = self.run_.collectives("dma").itertuples()
        self.assertEqual((record.op, record.backend), ("all_gather", "dma"))
        rate = record.bytes / (record.end_us - record.start_us) * 1e6
        self.assertAlmostEqual(record.algbw / rate, 1, places=9)

    def test_what_is_no_result_file_is_refused(self):
        import h5py
        other = self.folder / "other.h5"
        h5py.File(other, "w").close()
        with self.assertRaisesRegex(ValueError, "not a result file"):
            Run(other)

    # Timeline

    def test_the_timeline_is_a_picture_with_every_strategys_kernel(self):
        picture = self.folder / "all.png"
        done = plot(self.path, "-o", picture)
        self.assertEqual((done.returncode, done.stdout), (0, f"{picture}\n"), done.stderr)
        pixels = (matplotlib.image.imread(picture)[:, :, :3] * 255).round()
        height, width = pixels.shape[:2]
        self.assertGreater(min(width, height), 1000)
        blue_rows = (abs(pixels - KERNEL_BLUE).max(axis=2) < 2).sum(axis=1) > width / 4
        self.assertEqual(int((blue_rows[1:] & ~blue_rows[:-1]).sum()), len(self.rows))

    def test_a_collective_is_hatched_until_its_first_channel_has_a_slot(self):
        picture = self.folder / "one.png"
        for strategy, waits in (("concurrent", True), ("prioritized", False)):
            with self.subTest(strategy=strategy):
                self.assertEqual(plot(self.path, "--strategy", strategy, "-o", picture).returncode, 0)
                pixels = (matplotlib.image.imread(picture)[:, :, :3] * 255).round()
                columns = lambda colour: ((abs(pixels - colour).max(axis=2) < 2).sum(axis=0) >= 15).nonzero()[0]
                begin, orange = columns(KERNEL_BLUE).min(), columns(COLLECTIVE_ORANGE)
                activities = self.run_.activities(strategy)
                activities = activities[activities.gpu == 0]
                first = activities[activities.kind == "channel"].start_us.min() / activities[activities.kind == "collective"].end_us.max()
                self.assertEqual(first > 0.3, waits)
                self.assertAlmostEqual((orange[orange >= begin].min() - begin) / (orange.max() - begin), first, delta=0.02)

    def test_chosen_strategies_make_a_smaller_picture_beside_the_file(self):
        done = plot(self.path, "--strategy", "serial", "--strategy", "dma", "--dpi", 60)
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.path.with_suffix('.png')}\n"), done.stderr)
        self.assertLess(matplotlib.image.imread(self.path.with_suffix(".png")).shape[0], 600)

    def test_mistakes_end_in_one_line_that_names_them(self):
        for arguments, reason in (([self.path, "--strategy", "dme"], "no strategy 'dme' in .*; it holds serial, "),
                                  ([self.folder / "missing.h5"], "No such file")):
            done = plot(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            # Before it, matplotlib may say that it builds its font cache.
            self.assertRegex(done.stderr.splitlines()[-1], rf"^plot_timeline\.py: .*{reason}")

    def test_help_shows_examples(self):
        done = plot("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--strategy", done.stdout.split("examples:")[1])


if __name__ == "__main__":
    unittest.main()
