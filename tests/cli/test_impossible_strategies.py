"""A strategy that cannot run costs the others nothing: `c3sim run` finds it before it simulates, and says why."""

import json
import unittest

import h5py
from command import SOURCE, ScratchTest, c3sim
from test_run_limits import LONG, ONE_REPETITION, QUICK_TWO, SMALL, used_by_children

NVLS = '[strategy.{name}]\nb.algorithm = "nvls"\n'  # which MI300X nodes lack
IMPOSSIBLE = NVLS.format(name="reduced")


class ImpossibleStrategies(ScratchTest):
    def run_file(self, text, *options):
        (self.folder / "job.toml").write_text(text)
        return c3sim("run", "job.toml", "-o", "job.h5", *options, folder=self.folder)

    def test_the_others_are_simulated_as_if_it_were_not_there(self):
        done = self.run_file(SMALL + IMPOSSIBLE + QUICK_TWO + ONE_REPETITION, "--json")
        self.assertEqual(done.returncode, 5, done.stderr)
        printed = json.loads(done.stdout)
        (impossible,) = printed.pop("impossible_strategies")
        self.assertEqual(impossible["strategy"], "reduced")
        self.assertRegex(impossible["why"], r"^strategy 'reduced', stream 'b': .*nvls")
        alone = self.run_file(SMALL + QUICK_TWO + ONE_REPETITION, "--json")
        self.assertEqual((alone.returncode, json.loads(alone.stdout)), (0, printed))

    def test_the_table_and_the_file_say_why(self):
        done = self.run_file(SMALL + IMPOSSIBLE + QUICK_TWO + ONE_REPETITION, "--trace", "traces")
        self.assertRegex(done.stdout, r"(?m)^reduced cannot run: strategy 'reduced', stream 'b': ")
        with h5py.File(self.folder / "job.h5") as file:
            self.assertEqual(sorted(file["strategies"]), ["concurrent", "serial"])
            self.assertRegex(file.attrs["incomplete"], "^reduced cannot run: ")
            self.assertEqual(file.attrs["missing_strategies"], "reduced")
        self.assertEqual(sorted(path.name for path in (self.folder / "traces").iterdir()), ["concurrent", "serial"])
        self.assertEqual(c3sim("report", "job.h5", folder=self.folder).returncode, 0)

    def test_when_none_can_run_nothing_is_simulated_or_written(self):
        begun = used_by_children()
        done = self.run_file(LONG + IMPOSSIBLE + NVLS.format(name="other") + ONE_REPETITION)
        self.assert_one_line(done, 4, r"^c3sim: strategy 'reduced', stream 'b': .*nvls")
        self.assertLess(used_by_children() - begun, 8)  # of a simulation it would be 25 s
        self.assertEqual(self.files(), ["job.toml"])

    def test_the_fused_experiment_prints_what_can_run_where_a_product_splits_k(self):
        file = SOURCE / "configs/experiments/fused_vs_dma_llama70b.toml"
        for tokens, code, counts in ((512, 0, (6, 0)), (640, 5, (4, 2))):  # 640 rows: the fastest plan splits K
            with self.subTest(tokens=tokens):
                done = c3sim("run", file, "--set", f"model.tokens={tokens}", "--set", "measure.seeds=1", "-o", "f.h5", "--json",
                             folder=self.folder)
                self.assertEqual(done.returncode, code, done.stderr)
                printed = json.loads(done.stdout)
                self.assertEqual((len(printed["strategies"]), len(printed.get("impossible_strategies", []))), counts)


if __name__ == "__main__":
    unittest.main()
