"""c3sim diff: what changed between two runs, for people, as JSON and as a check."""

import json
import unittest

from command import MAIN_JOB, ScratchTest, c3sim

FAST = ["--set", "measure.seeds=1", "--set", "measure.loss_split=false"]


class Diff(ScratchTest):
    def run_job(self, name, *settings):
        done = c3sim("run", MAIN_JOB, *FAST, *settings, "-q", "-o", name, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return name

    def diff(self, *arguments):
        return c3sim("diff", *arguments, folder=self.folder)

    def diff_json(self, *arguments):
        done = self.diff(*arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_a_run_equals_itself_and_its_repetition(self):
        a, b = self.run_job("a.h5"), self.run_job("b.h5")
        for other in (a, b):
            with self.subTest(other=other):
                self.assertEqual(self.diff(a, other, "--check").returncode, 0)
                result = self.diff_json(a, other)
                self.assertTrue(result["equal"])
                self.assertEqual((result["run"], result["configuration"], result["activities"]), ([], [], []))
                for strategy in result["strategies"]:
                    self.assertEqual(strategy["summary"], [])
                    self.assertGreater(strategy["activities"]["unchanged"], 0)
        self.assertIn("configuration: no change", self.diff(a, b).stdout)

    def test_fewer_tokens_show_in_configuration_times_and_activities(self):
        a = self.run_job("a.h5")
        b = self.run_job("b.h5", "--set", "model.tokens=1024")
        result = self.diff_json(a, b, "-n", "0")
        self.assertEqual(result["schema_version"], 1)
        self.assertFalse(result["equal"])
        changed = {entry["key"]: entry for entry in result["configuration"]}
        self.assertIn("model.tokens", changed)
        self.assertEqual((changed["model.tokens"]["a"], changed["model.tokens"]["b"]), ("2048", "1024"))
        self.assertEqual(changed["model.tokens"]["relative"], -0.5)

        strategies = {entry["strategy"]: entry for entry in result["strategies"]}
        [time] = [entry for entry in strategies["serial"]["summary"] if entry["number"] == "time"]
        self.assertEqual(time["unit"], "us")
        self.assertLess(time["b"], time["a"])
        self.assertAlmostEqual(time["change"], time["b"] - time["a"], places=6)
        changes = [abs(entry["change_us"]) for entry in result["activities"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        gemm = [entry for entry in result["activities"]
                if (entry["strategy"], entry["kind"]) == ("serial", "kernel")]
        self.assertEqual(len(gemm), 1)
        # Serial: the GEMM is all that gets shorter, so the whole run does by as much.
        self.assertAlmostEqual(gemm[0]["change_us"], time["change"], delta=1e-3 * abs(time["change"]))

        self.assertEqual(self.diff(a, b, "--check").returncode, 1)
        self.assertEqual(self.diff(a, b).returncode, 0)
        text = self.diff(a, b).stdout
        self.assertRegex(text, r"(?m)^model\.tokens +2048 +1024 +-50%$")
        self.assertRegex(text, r"\d+ activities matched: \d+ unchanged, ")

    def test_strategies_are_chosen_and_two_of_one_file_compared(self):
        a = self.run_job("a.h5")
        one = self.diff_json(a, a, "--strategy", "dma", "--strategy", "serial")
        self.assertEqual([entry["strategy"] for entry in one["strategies"]], ["dma", "serial"])
        two = self.diff_json(a, a, "--strategy", "concurrent:dma")
        [pair] = two["strategies"]
        self.assertEqual((pair["strategy"], pair["strategy_b"]), ("concurrent", "dma"))
        self.assertGreater(len(pair["summary"]), 3)
        self.assertEqual(two["only_a"], [])

    def test_another_system_is_said_and_what_only_one_configuration_has(self):
        a = self.run_job("a.h5")
        b = self.run_job("b.h5", "--set", "system=h100-sxm-8", "--set", "measure.seeds=1")
        result = self.diff_json(a, b, "-n", "5")
        facts = {entry["fact"]: (entry["a"], entry["b"]) for entry in result["run"]}
        self.assertEqual(facts["system"], ("mi300x-8", "h100-sxm-8"))
        self.assertTrue(any(entry["b"] is None for entry in result["configuration"]))
        self.assertLessEqual(len(result["activities"]), 5)
        self.assertGreater(sum(entry["activities"]["only_a"] for entry in result["strategies"]), 0)

    def test_lines_bound_every_part_and_count_the_rest(self):
        a = self.run_job("a.h5")
        b = self.run_job("b.h5", "--set", "system=h100-sxm-8")
        strategies = 7
        for lines in (1, 5):
            text = self.diff(a, b, "-n", lines).stdout
            parts = 3 + strategies  # run, configuration, numbers of each strategy, activities
            around = 6  # blank, header, rule, count of the rest, notes
            self.assertLessEqual(len(text.splitlines()), parts * (lines + around), text)
            for what in ("keys", "numbers", "names"):
                self.assertRegex(text, rf"(?m)^\d+ more {what} with changes: -n \d+$")
        everything = self.diff(a, b, "-n", "0").stdout
        self.assertNotIn(" more ", everything)
        self.assertGreater(len(everything.splitlines()), 100)

    def test_mistakes_are_refused_in_one_line(self):
        a = self.run_job("a.h5")
        (self.folder / "text.h5").write_text("no HDF5")
        self.assert_one_line(self.diff(a, "nowhere.h5"), 74, r"^c3sim: nowhere\.h5: cannot read: No such file")
        self.assert_one_line(self.diff("text.h5", a), 74, r"^c3sim: text\.h5: cannot ")
        self.assert_one_line(self.diff(a, a, "--strategy", "dam"), 2, r"unknown strategy 'dam'.*did you mean 'dma'\?")
        self.assert_one_line(self.diff(a, a, "--strategy", "dma:serail"), 2, r"did you mean 'serial'\?")
        self.assert_one_line(self.diff(a), 2, r"^c3sim: ")
        self.assert_one_line(self.diff(a, a, "--tolerance", "-1"), 2, r"^c3sim: ")
        for lines in ("x", "-1"):
            self.assert_one_line(self.diff(a, a, "-n", lines), 2, r"^c3sim: ")


if __name__ == "__main__":
    unittest.main()
