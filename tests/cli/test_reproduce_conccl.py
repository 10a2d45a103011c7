"""c3sim reproduce conccl runs every strategy on every scenario, over draws of the priors. Here: small pairs of our own."""

import csv
import io
import json
import os
import shutil
import statistics
import unittest
import unittest.mock

from command import SOURCE, ScratchTest, c3sim

COLUMNS = "id,bound,class,model,projection,m,n,k,dtype,traffic,collective,algorithm,size_mib\n"
ROWS = ["small_ag,cb,GC-equal,llama-70b,square,1536,1536,1024,bf16,tiled,all_gather,ring,4",
        "small_a2a,cb,GC-equal,llama-70b,square,1536,1536,1024,bf16,tiled,all_to_all,direct,4",
        "other_ag,mb,C-long,llama-70b,wide,2048,1536,1024,bf16,streamed,all_gather,ring,12"]
LADDER = ["base", "base.round_robin", "base.random_order", "sp", "rp", "rp.lookup", "sp_rp", "conccl", "conccl_8",
          "conccl_8.from_all"]


def share(row, time="time_us"):
    """Of the ideal speedup, in percent, by definition."""
    gemm, collective = float(row["gemm_alone_us"]), float(row["collective_alone_us"])
    ideal = (gemm + collective) / max(gemm, collective)
    return 100 * ((gemm + collective) / float(row[time]) - 1) / (ideal - 1)


class ReproduceConccl(ScratchTest):
    def setUp(self):
        super().setUp()
        self.study = self.folder / "configs/studies/conccl"
        self.study.mkdir(parents=True)
        shutil.copy(SOURCE / "studies/conccl/one.toml", self.study)
        self.write(*ROWS)
        patch = unittest.mock.patch.dict(os.environ, {"C3SIM_CONFIGS": str(self.folder / "configs")})
        patch.start()
        self.addCleanup(patch.stop)

    def write(self, *rows, columns=COLUMNS):
        (self.study / "scenarios.csv").write_text(columns + "".join(row + "\n" for row in rows))

    def reproduce(self, *options):
        return c3sim("reproduce", "conccl", "-q", *options)

    def figures(self, *options):
        done = self.reproduce("--json", *options)
        self.assertEqual(done.stderr, "")
        self.assertIn(done.returncode, (0, 1))
        return {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}

    def rows(self, *options):
        done = self.reproduce("--rows", self.folder / "rows.csv", *options)
        self.assertEqual(done.stderr, "")
        return list(csv.DictReader(io.StringIO((self.folder / "rows.csv").read_text())))

    def test_every_figure_is_made_of_the_rows_by_definition(self):
        rows = self.rows("--draws", 3)
        figures = self.figures("--draws", 3)
        self.assertEqual(len(rows), (4 + 3) * len(ROWS) * len(LADDER))  # four seeds at nominal values, three draws
        for row in rows:
            self.assertAlmostEqual(float(row["share_percent"]), share(row), delta=0.05)
        for strategy in LADDER:
            with self.subTest(strategy=strategy):
                def mean(draw, seed):
                    return statistics.mean(share(row) for row in rows if row["strategy"] == strategy and row["draw"] == draw
                                           and row["seed"] == seed)
                drawn = [mean(str(draw), str(draw)) for draw in range(3)]
                nominal = statistics.mean(mean("", str(seed)) for seed in range(4))
                figure = figures[strategy]
                self.assertAlmostEqual(figure["simulated"], statistics.median(drawn), delta=0.05)
                self.assertAlmostEqual(figure["beside"]["nominal"], nominal, delta=0.05)
                self.assertLessEqual(figure["p5"], figure["simulated"])
                self.assertGreaterEqual(figure["p95"], figure["simulated"])
                split = figures["split." + strategy]
                self.assertEqual(split["simulated"], figure["simulated"])
                self.assertEqual(set(split["beside"]), {"cb", "mb", "all-gather", "all-to-all", "GC-equal", "C-long"})

    def test_gates_are_those_of_the_figures_file(self):
        figures = self.figures("--draws", 0)
        gates = {name: (figure["low"], figure["high"]) for name, figure in figures.items() if figure["gate"] == "band"}
        self.assertEqual({name: gates.get(name) for name in ("gap.conccl_sp", "gap.conccl_8_conccl", "gap.rp_sp",
                                                             "range.sp_base", "max", "sp", "conccl")},
                         {"gap.conccl_sp": (16, 32), "gap.conccl_8_conccl": (2, 10), "gap.rp_sp": (-5, 3),
                          "range.sp_base": (None, 0), "max": (1.55, 1.8), "sp": None, "conccl": None})
        order = {name for name, figure in figures.items() if figure["gate"] == "order"}
        self.assertEqual(order, {"order.base_sp", "order.base_rp", "order.base_sp_rp", "order.sp_conccl", "order.rp_conccl",
                                 "order.sp_rp_conccl", "order.conccl_conccl_8", "order.sp_rp"})
        self.assertIsNone(figures["base"]["pass"])
        self.assertIsNone(figures["conccl"]["pass"])
        self.assertAlmostEqual(figures["order.sp_conccl"]["simulated"],
                               figures["conccl"]["simulated"] - figures["sp"]["simulated"])
        self.assertEqual((figures["sp"]["p5"], figures["sp"]["kind"]), (None, "predicted"))

    def test_the_result_is_the_same_at_every_number_of_processes(self):
        outputs = set()
        for options in (("-j", 1), ("-j", 3), ("--jobs", 3), ()):
            done = self.reproduce("--draws", 2, "--rows", self.folder / "rows.csv", *options)
            outputs.add((done.stdout, (self.folder / "rows.csv").read_text()))
        self.assertEqual(len(outputs), 1)

    def test_a_draw_is_the_same_whatever_number_of_draws_there_is(self):
        def of_draw(rows):
            return [row for row in rows if row["draw"] == "1"]
        self.assertEqual(of_draw(self.rows("--draws", 2)), of_draw(self.rows("--draws", 4)))

    def test_calibrated_results_stand_beside_and_are_never_judged(self):
        predicted = self.figures("--draws", 0)
        both = self.figures("--draws", 0, "--calibrated")
        for name, figure in predicted.items():
            self.assertEqual(both[name], figure)
        calibrated = {name for name in both if name.startswith("calibrated.")}
        self.assertEqual(calibrated, set(both) - set(predicted))
        self.assertLessEqual({f"calibrated.{strategy}" for strategy in LADDER}, calibrated)
        for name in calibrated:
            self.assertEqual((both[name]["kind"], both[name]["gate"], both[name]["pass"]), ("fitted", "none", None))
        self.assertIn("Calibrated (fitted): Share of the ideal", self.reproduce("--draws", 0, "--calibrated").stdout)

    def test_the_tornado_moves_one_prior_at_a_time(self):
        self.write(*ROWS, ROWS[0].replace("small_ag", "again"))
        six = self.figures("--draws", 0)
        figures = self.figures("--draws", 0, "--tornado")
        swings = [figure for name, figure in figures.items() if name.startswith("tornado.")]
        self.assertEqual(len(swings), 10)
        spans = [figure["simulated"] for figure in swings]
        self.assertEqual(spans, sorted(spans, reverse=True))
        for figure in swings:
            for strategy in ("ConCCL", "SP"):
                low, high = (figure["beside"][f"{strategy} {end}"] for end in ("low", "high"))
                self.assertLessEqual(max(low, high, 0) - min(low, high, 0), figure["simulated"] + 1e-9)
        self.assertNotEqual(figures["tornado.library.link_payload"], six["tornado.library.link_payload"])
        candidates = {name for name in figures if name.startswith("candidate.")}
        self.assertIn("candidate.gpu.power_coupling", candidates)
        self.assertEqual(len(candidates), 8)
        self.assertIn("choice.gpu.hbm_arbitration.byte_fair", figures)
        self.assertIn("choice.gpu.dispatch_policy.round_robin", figures)

    def test_ranks_over_draws_are_shown_with_what_chance_would_give(self):
        text = self.reproduce("--draws", 12).stdout
        self.assertRegex(text, r"Of \d+ priors with a range \d+ move a share .* above 0\.59, below which 19 of 20")
        for name, figure in self.figures("--draws", 12).items():
            if name.startswith("sensitivity."):
                self.assertGreater(max(map(abs, [figure["simulated"], *figure["beside"].values()])), 0.59)

    def test_rows_that_say_nothing_sensible_are_all_named_and_nothing_runs(self):
        self.write(ROWS[0].replace("cb", "xb"), ROWS[1].replace("llama-70b", "lama-70b"), ROWS[2].replace(",12", ",0"))
        done = self.reproduce("--draws", 0)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 3)
        for line, pattern in zip(lines, (r"scenarios.csv:2:10: bound: unknown bound 'xb'; did you mean 'cb'\? known: cb, mb",
                                         r"scenarios.csv:3:23: model: unknown model 'lama-70b'.*did you mean 'llama-70b'",
                                         r"scenarios.csv:4:80: size_mib: must be a number above 0, not '0'")):
            self.assertRegex(line, pattern)

    def test_a_file_without_a_column_or_without_rows_is_refused(self):
        self.write()
        self.assert_one_line(self.reproduce(), 3, "scenarios.csv:1:1: id: no scenario below the header")
        self.write("a,cb", columns="id,bound\n")
        self.assert_one_line(self.reproduce(), 3, "scenarios.csv:1:1: class: the column is missing")

    def test_an_experiment_without_a_strategy_of_the_ladder_is_refused(self):
        text = (self.study / "one.toml").read_text()
        (self.study / "one.toml").write_text(text.replace("[strategy.sp_rp]", "[strategy.both]"))
        self.assert_one_line(self.reproduce(), 3, "one.toml:1:1: strategy: the study needs a strategy 'sp_rp'")

    def test_bad_options_are_usage_errors(self):
        for options in (("--draws", "-1"), ("--draws", "many"), ("--draws", "1000000"), ("-j", "0"), ("--jobs", "2.5")):
            with self.subTest(options=options):
                self.assert_one_line(self.reproduce(*options), 2, "^c3sim: .*(draws|jobs)")
        self.assert_one_line(self.reproduce("--systems", "map.csv"), 2, "--systems: the study 'conccl' has no map")
        for study in ("kernels", "collectives"):
            for option in (["--draws", "3"], ["--jobs", "2"], ["--calibrated"], ["--tornado"]):
                with self.subTest(study=study, option=option):
                    self.assert_one_line(c3sim("reproduce", study, *option), 2, f"^c3sim: {option[0]}: the study '{study}'")


if __name__ == "__main__":
    unittest.main()
