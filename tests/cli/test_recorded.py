"""What a trace recorded beside what the simulator makes of it: in the file, on the page, by `diff --recorded`; and more ranks than were recorded."""

import csv
import json
import subprocess
import sys
import unittest

import h5py

from command import SOURCE, ScratchTest, c3sim
from test_import import trace
from test_report import Page, lane, shapes, span

MICROSECOND = 1_000_000  # ps


class Recorded(ScratchTest):
    """Two ranks, of which the second comes 40 us late to the first of two collectives."""

    def setUp(self):
        super().setUp()
        for rank in range(2):
            (self.folder / f"rank{rank}.json").write_text(json.dumps(trace(rank, late=40.0 * rank)))
        done = c3sim("import", "rank0.json", "rank1.json", "-o", "replay", "-q", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_replay(self, *sets, output="out.h5"):
        words = [word for value in sets for word in ("--set", value)]
        return c3sim("run", "replay/experiment.toml", "-o", output, "--json", *words, folder=self.folder)

    def simulate(self, *sets, output="out.h5"):
        done = self.run_replay(*sets, output=output)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["strategies"][0]

    def diff(self, *arguments):
        return c3sim("diff", *arguments, folder=self.folder)

    def test_the_file_has_recorded_dates_on_the_axis_of_simulated_ones(self):
        self.simulate()
        with h5py.File(self.folder / "out.h5") as file:
            recorded = file["strategies/replay/recorded/work"]
            names = file["names"].asstr()[:]
            rows = sorted(zip(recorded["rank"][:], recorded["start"][:] // MICROSECOND, recorded["last_start"][:] // MICROSECOND,
                              recorded["end"][:] // MICROSECOND, names[recorded["name"][:]]))
            self.assertEqual([row[1:4] for row in rows if row[0] == 0], [(20, 20, 70), (110, 150, 300), (410, 410, 460), (510, 510, 700)])
            self.assertEqual([row[1:4] for row in rows if row[0] == 1], [(20, 20, 70), (150, 150, 300), (410, 410, 460), (510, 510, 700)])
            self.assertEqual(list(file["strategies/replay/recorded/ranks/rank"][:]), [0, 1] + 6 * [-1])
            for column in recorded.values():
                self.assertTrue(column.attrs["long_name"])
        table = c3sim("inspect", "out.h5", "--table", "recorded", "--csv", folder=self.folder).stdout
        self.assertEqual(len(list(csv.reader(table.splitlines()))), 1 + 8)

    def test_the_page_draws_both_on_one_axis(self):
        self.simulate()
        done = c3sim("report", "out.h5", "-o", "page.html", "-q", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = Page(self.folder / "page.html")
        (figure,) = page.figures("replay").values()
        for stream in ("stream7", "stream20"):
            rows = [row for row in figure.iter("div") if row.get("class", "").startswith("lane stream") and row.find("span/b").text == stream]
            kinds = [row.get("class").split()[-1] for row in rows]
            self.assertEqual(kinds, 2 * ["simulated", "recorded"])  # GPU 0, and 1 below
            labels = [row.find("span/b").tail.strip() for row in rows]
            self.assertEqual(labels, kinds)
        collectives = lane(figure, "recorded", None)
        self.assertEqual([round(value, 1) for value in span(shapes(collectives, "rect", "compute")[0])],
                         [round(page.x(at * MICROSECOND), 1) for at in (20, 70)])
        waits = [row for row in figure.iter("div") if row.get("class") == "lane stream recorded"][1]
        (waiting,) = shapes(waits, "rect", "waiting")
        self.assertEqual([round(value, 1) for value in span(waiting)], [round(page.x(at * MICROSECOND), 1) for at in (110, 150)])
        simulated = [row for row in figure.iter("div") if row.get("class") == "lane stream simulated"][1]
        self.assertEqual([span(rect) for rect in shapes(simulated, "rect", "comm")], [span(rect) for rect in shapes(waits, "rect", "comm")])
        self.assertIn("recorded 700.0 us", "".join(figure.find("figcaption").itertext()))

    def test_python_reads_and_draws_both(self):
        self.simulate("trace.replay=modelled")
        tools = SOURCE / "results/python"
        read = ("import c3sim_results\nrun = c3sim_results.Run('out.h5')\nrows = run.recorded('replay', 1)\n"
                "print(list(rows.start_us), rows.duration_us.sum(), run.recorded('replay', 2))")
        done = subprocess.run([sys.executable, "-B", "-c", read], capture_output=True, text=True, cwd=self.folder, env={"PYTHONPATH": str(tools)}, check=True)
        self.assertEqual(done.stdout, "[20.0, 150.0, 410.0, 510.0] 440.0 None\n")
        subprocess.run([sys.executable, "-B", tools / "plot_timeline.py", "out.h5", "-o", "out.svg"], capture_output=True, cwd=self.folder, check=True)
        picture = (self.folder / "out.svg").read_text()
        for label in (">stream7 simulated<", ">stream20 simulated<", ">recorded<"):
            self.assertIn(label, picture)

    def test_the_axis_is_as_long_as_the_recording_where_the_replay_is_shorter(self):
        strategy = self.simulate("trace.replay=modelled")
        self.assertLess(strategy["time_us"], 600.0)
        c3sim("report", "out.h5", "-o", "page.html", "-q", folder=self.folder)
        self.assertGreaterEqual(Page(self.folder / "page.html").axis, 700 * MICROSECOND)

    def test_a_page_without_a_trace_has_one_row_for_each_stream(self):
        (self.folder / "other.toml").write_text('schema = 1\nname = "other"\nsystem = "a100-sxm-80gb-8"\n[[stream]]\nname = "work"\n'
                                                'run = [{ timed = "1 ms" }]\n[strategy.s]\n[measure]\nseeds = 1\n')
        done = c3sim("run", "other.toml", "-o", "other.h5", "-q", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        c3sim("report", "other.h5", "-o", "page.html", "-q", folder=self.folder)
        text = (self.folder / "page.html").read_text()
        self.assertNotIn('class="lane stream recorded"', text)
        self.assertNotIn('class="repeats"', text)
        refused = self.diff("other.h5", "--recorded")
        self.assertEqual(refused.returncode, 74)
        self.assertIn("strategy 's' repeats no trace", refused.stderr)

    def test_diff_finds_nothing_in_a_replay_and_what_a_model_changes(self):
        self.simulate()
        done = self.diff("out.h5", "--recorded", "--check")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("8 kernels, copies and collectives in both, 8 of them equal", done.stdout)
        self.simulate("trace.replay=mixed", 'trace.model=["collective"]')
        done = self.diff("out.h5", "--recorded", "--check", "--json")
        self.assertEqual(done.returncode, 1)
        (strategy,) = json.loads(done.stdout)["strategies"]
        self.assertEqual((strategy["matched"], strategy["only_recorded"], strategy["only_simulated"]), (8, 0, 0))
        # Starts are the hosts' and stay; the all-reduce of 2 kB takes less than the recorded 150 and 190 us.
        self.assertLess(strategy["start_shift_us"]["most"], 0.001)
        (longest,) = [row for row in strategy["durations"] if row["kind"] == "collective"]
        self.assertEqual((longest["count"], longest["recorded_us"]), (4, 190 + 150 + 2 * 190))
        self.assertLess(longest["simulated_us"], 200.0)

    def test_diff_asks_for_a_second_file_or_the_recording(self):
        self.simulate()
        for arguments, message in ((["out.h5"], "B is missing"), (["out.h5", "out.h5", "--recorded"], "B cannot be given"),
                                   (["out.h5", "--recorded", "--all"], "--all cannot be combined"),
                                   (["out.h5", "--recorded", "--strategy", "x"], "unknown strategy 'x'")):
            with self.subTest(arguments=arguments):
                done = self.diff(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(message, done.stderr)

    def test_more_ranks_repeat_those_that_were_recorded(self):
        eight = self.simulate("trace.replay=modelled", "trace.data_parallel=8")
        self.assertEqual([row["name"] for row in eight["classes"]], 4 * ["rank0", "rank1"])
        done = self.run_replay("trace.replay=modelled", "trace.data_parallel=64", "nodes=8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("64 ranks repeat 2 recorded ranks of a job of 2", done.stderr)
        many = json.loads(done.stdout)["strategies"][0]
        self.assertEqual([(row["name"], row["multiplicity"]) for row in many["classes"]], [("rank0", 32), ("rank1", 32)])
        self.assertGreater(many["classes"][1]["communication_us"], eight["classes"][1]["communication_us"])
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(list(file["strategies/replay/recorded/ranks/rank"][:]), 32 * [0, 1])

    def test_as_many_ranks_as_recorded_are_the_recorded_ones(self):
        two = ("system=gh200-1", "nodes=2")
        for replay in ("recorded", "modelled"):
            with self.subTest(replay=replay):
                self.assertEqual(self.simulate(*two, f"trace.replay={replay}", "trace.data_parallel=2"), self.simulate(*two, f"trace.replay={replay}"))

    def test_what_cannot_be_repeated_is_refused_in_its_place(self):
        for sets, message in ((["trace.replay=recorded", "trace.data_parallel=8"], 'trace.data_parallel: requires replay = "modelled"'),
                              (["trace.replay=mixed", 'trace.model=["gemm"]', "trace.data_parallel=8"], 'or "mixed" with "collective" in model'),
                              (["trace.replay=modelled", "trace.data_parallel=16"], "trace.data_parallel: is 16, and the system has 8 ranks"),
                              (["trace.replay=modelled", "trace.data_parallel=1"], "trace.data_parallel: "),
                              (["system=gh200-1", "nodes=3", "trace.replay=modelled", "trace.data_parallel=3"], "3 is not a multiple of the 2 recorded ranks")):
            with self.subTest(sets=sets):
                done = self.run_replay(*sets)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
