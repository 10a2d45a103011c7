"""No verb replaces a file that c3sim did not write, unless it is told to by --force; its own it replaces."""

import unittest

from command import ScratchTest, c3sim
from test_import import trace
from test_robust_files import EXPERIMENT

import json

REFUSED = r"^c3sim: .*: this file would be replaced, and it is not as c3sim wrote it; choose another output, or add --force$"
# As people have them under the names of outputs, one a format: a comment, a page, a table, a trace, a note.
OF_THE_USER = ("# my experiment\nschema = 1\n", "<!DOCTYPE html>\n<html><head><title>mine</title></head></html>\n", "op,m,n,k\ngemm,1,2,3\n",
               '{"schemaVersion": 1, "traceEvents": []}\n', "a note\n")
SHAPES = "op,m,n,k,dtype\ngemm,512,512,512,bf16\n"
BROKEN = SHAPES + "gemm,x,1,1,bf16\n"
MEASURED = "op,dtype,m,n,k,time_us\n" + "".join(
    f"gemm,bf16,{m},{n},{k},{m * n * k / 1e8:.1f}\n" for m in (512, 1024, 2048) for n in (512, 2048) for k in (512, 1024, 4096))
TUNE = EXPERIMENT + "[tune.product]\n\"strategy.concurrent.b.cus\" = [8, 16]\n"


class FilesOfTheUser(ScratchTest):
    def setUp(self):
        super().setUp()
        for name, text in (("e.toml", EXPERIMENT.replace("seeds = 2", "seeds = 1")), ("shapes.csv", SHAPES), ("broken.csv", BROKEN),
                           ("measured.csv", MEASURED), ("s.toml", EXPERIMENT + "[sweep.product]\n\"measure.seed\" = [1, 2]\n"),
                           ("tune.toml", TUNE), ("rank0.json", json.dumps(trace(0, world=1))), ("times.csv", "name,duration_us\nk,1\nk,2\n")):
            (self.folder / name).write_text(text)

    def call(self, words):
        return c3sim(*words, "-q", folder=self.folder)

    def check(self, words, *outputs, code=0):
        """`words` write `outputs`, of which none may be of the user."""
        for output in outputs:
            path = self.folder / output
            path.parent.mkdir(parents=True, exist_ok=True)
            for text in OF_THE_USER:
                with self.subTest(output=output, text=text[:20]):
                    path.write_text(text)
                    self.assert_one_line(self.call(words), 2, REFUSED)
                    self.assertEqual(path.read_text(), text)
            done = self.call([*words, "--force"])
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertNotEqual(path.read_text(errors="replace"), text)
        path.write_text("")  # nothing is lost with an empty one
        for _ in range(2):  # and own files are replaced
            done = self.call(words)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_run(self):
        self.check(["run", "e.toml", "-o", "out.h5"], "out.h5")
        self.check(["run", "e.toml", "-o", "out.h5", "--trace", "traces"], "traces/dma/rank0.json")
        self.check(["run", "e.toml"], "out/e.h5")

    def test_report(self):
        self.call(["run", "e.toml", "-o", "r.h5"])
        self.check(["report", "r.h5"], "r.html")
        self.check(["report", "r.h5", "-o", "page"], "page")

    def test_sweep_and_merge(self):
        self.call(["sweep", "s.toml", "-o", "pp"])
        self.check(["merge", "pp"], "pp.h5")
        self.check(["merge", "pp", "-o", "t.h5", "--csv"], "t.csv")
        self.assert_one_line(self.call(["merge", "pp", "-o", "s.toml"]), 2, REFUSED)
        (self.folder / "other").mkdir()
        (self.folder / "other/manifest.json").write_text("{}")
        self.assert_one_line(self.call(["sweep", "s.toml", "-o", "other"]), 74, "it is no c3sim.sweep_manifest file")

    def test_kernel(self):
        self.check(["kernel", "--csv", "shapes.csv", "--gpu", "mi300x", "-o", "t.csv"], "t.csv")
        self.check(["kernel", "--csv", "broken.csv", "--gpu", "mi300x", "-o", "b.csv"], "b.rejected.csv", code=5)
        (self.folder / "t.rejected.csv").write_text("a note\n")  # which a run without broken rows would remove
        self.assert_one_line(self.call(["kernel", "--csv", "shapes.csv", "--gpu", "mi300x", "-o", "t.csv"]), 2, REFUSED)
        (self.folder / "b.rejected.csv").write_text("case,why,reason\n1,2,3\n")  # a table that only ends as c3sim's does
        self.assert_one_line(self.call(["kernel", "--csv", "broken.csv", "--gpu", "mi300x", "-o", "b.csv"]), 2, REFUSED)

    def test_calibrate(self):
        words = ["calibrate", "a100-sxm-80gb=measured.csv", "--class", "gemm"]
        self.check([*words, "--scale", "-o", "scale.toml"], "scale.toml")
        self.check([*words, "--starts", "1", "-o", "gemm.toml"], "gemm.toml")

    def test_import(self):
        words = ["import", "rank0.json", "--system", "a100-sxm-80gb-8", "-o", "replay"]
        self.check(words, "replay/experiment.toml", "replay/program.h5")
        experiment = self.folder / "replay/experiment.toml"
        experiment.write_text(experiment.read_text().replace("seeds      = 1", "seeds      = 2"))  # it is the user's now
        self.assert_one_line(self.call(words), 2, REFUSED)
        self.assertIn("seeds      = 2", experiment.read_text())

    def test_sample(self):
        self.check(["sample", "kernels", "times.csv", "-o", "few"], "few/samples.csv", "few/reduced.toml")

    def test_pages(self):
        self.check(["collective", "all_reduce", "--system", "h100-sxm-8", "--min", "1 MiB", "--max", "1 MiB", "-o", "c.html"], "c.html")
        self.check(["memory", "e.toml", "--page", "m.html"], "m.html")
        self.check(["explain", "e.toml", "--no-levers", "--page", "x.html"], "x.html")
        self.check(["tune", "tune.toml", "--page", "t.html"], "t.html")

    def test_reproduce_refuses_what_is_no_table_before_the_study_runs(self):
        for text in (text for text in OF_THE_USER if "," not in text.split("\n", maxsplit=1)[0]):
            (self.folder / "rows.csv").write_text(text)
            self.assert_one_line(self.call(["reproduce", "t3", "--rows", "rows.csv"]), 2, REFUSED)
            self.assertEqual((self.folder / "rows.csv").read_text(), text)


if __name__ == "__main__":
    unittest.main()
