"""c3sim calibrate finds what synthetic times were made with, and writes presets that the other commands read."""

import csv
import os
import subprocess
import tomllib
import unittest

from command import COMMAND, SOURCE, ScratchTest, c3sim

GPU = "a100-sxm-80gb"
SHAPES = [(m, n, k) for m in (512, 1024, 4096) for n in (1024, 3000, 8192) for k in (1024, 4096)]
QUICK = ("--starts", "1")


class Calibrate(ScratchTest):
    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def times(self, gpu=GPU, configs=None, dtype="bf16", sets=()):
        """Times of SHAPES by the model, in us."""
        self.write("shapes.csv", "op,dtype,m,n,k\n" + "".join(f"gemm,{dtype},{m},{n},{k}\n" for m, n, k in SHAPES))
        environment = os.environ | ({"C3SIM_CONFIGS": str(configs)} if configs else {})
        done = subprocess.run([COMMAND, "kernel", "--csv", "shapes.csv", "--gpu", gpu, "-o", "timed.csv", *sets],
                              cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.folder / "timed.csv", newline="") as file:
            times = [float(row["time_us"]) for row in csv.DictReader(file)]
        for name in ("shapes.csv", "timed.csv"):
            (self.folder / name).unlink()
        return times

    def measure(self, factor, name="measured.csv", dtype="bf16"):
        """A table of times that are `factor` times the model's."""
        rows = zip(SHAPES, self.times(dtype=dtype), strict=True)
        self.write(name, "op,dtype,m,n,k,time_us\n" +
                   "".join(f"gemm,{dtype},{m},{n},{k},{factor * time!r}\n" for (m, n, k), time in rows))

    def calibrate(self, *arguments):
        return c3sim("calibrate", *arguments, folder=self.folder)

    def preset(self, name, coefficients):
        """A GPU preset in a folder of its own, with other coefficients. Its path."""
        self.write(f"configs/gpus/{name}.toml", f'name = "{name}"\n'
                   f'extends = ["{SOURCE}/configs/gpus/{GPU}.toml", "../../{coefficients}"]\n')
        return self.folder / f"configs/gpus/{name}.toml"

    def test_scale_finds_the_factor_of_a_gpu_and_its_file_makes_a_preset(self):
        scaled = self.times(sets=("--set", "gpu.kernels.matrix_gemm.scale=1.3"))
        self.write("measured.csv", "op,dtype,m,n,k,time_us\n" +
                   "".join(f"gemm,bf16,{m},{n},{k},{time!r}\n" for (m, n, k), time in zip(SHAPES, scaled, strict=True)))
        done = self.calibrate(f"{GPU}=measured.csv", "--class", "gemm", "--scale", "-o", "scale.toml")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, rf"^matrix_gemm on {GPU}: times x 1\.3000 .*, from {len(SHAPES)} rows")
        written = tomllib.loads((self.folder / "scale.toml").read_text())
        self.assertEqual(list(written), ["kernels"])
        scale = written["kernels"]["matrix_gemm"].pop("scale")
        self.assertEqual(written["kernels"], {"matrix_gemm": {}})
        self.assertEqual((round(scale["value"], 4), scale["kind"]), (1.3, "measured"))
        self.assertIn("measured.csv", scale["source"])

        self.preset("my-gpu", "scale.toml")
        for wanted, found in zip(scaled, self.times("my-gpu", self.folder / "configs"), strict=True):
            self.assertAlmostEqual(found / wanted, 1, delta=1e-4)

    def test_a_fit_of_all_coefficients_makes_a_preset(self):
        self.measure(1.3)
        done = self.calibrate(f"{GPU}=measured.csv", "--class", "gemm", *QUICK, "--hold", "operand_default,prologue_k_default",
                              "--free", "share_default", "-o",
                              "fitted.toml")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("training", done.stdout)
        written = tomllib.loads((self.folder / "fitted.toml").read_text())["kernels"]["matrix_gemm"]
        shipped = tomllib.loads((SOURCE / "configs/kernels/matrix_gemm.toml").read_text())["kernels"]["matrix_gemm"]
        self.assertEqual(list(written), list(shipped))
        for key in ("operand_default", "prologue_k_default", "share_blackwell", "split_us"):
            self.assertEqual(written[key], shipped[key])  # held, another family's, zero
        self.assertNotEqual(written["share_default"]["value"], shipped["share_default"]["nominal"])
        self.assertIn("measured.csv", written["share_default"]["source"])

        preset = self.preset("fitted-gpu", "fitted.toml")
        checked = c3sim("config", "check", preset)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        after = self.times("fitted-gpu", self.folder / "configs")
        for old, new in zip(self.times(), after, strict=True):
            self.assertAlmostEqual(new / (1.3 * old), 1, delta=0.05)

    def test_the_file_written_is_a_start_and_quotes_in_names_do_not_break_it(self):
        self.measure(1.2, 'a "b" \\ c.csv')
        first = self.calibrate(f'{GPU}=a "b" \\ c.csv', "--class", "gemm", *QUICK, "-o", "1.toml")
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        again = self.calibrate(f'{GPU}=a "b" \\ c.csv', "--class", "gemm", *QUICK, "--start", "1.toml", "-o", "2.toml")
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertEqual(self.files(), ["1.toml", "2.toml", 'a "b" \\ c.csv'])

    def test_rows_kept_back_are_tested_and_the_faster_of_two_counts(self):
        self.write("two.csv", "op,dtype,m,n,k,time_us,split\ngemm,bf16,4096,4096,4096,900,train\n"
                   "gemm,bf16,4096,4096,4096,800,train\ngemm,bf16,8192,8192,8192,9000,test\n")
        twice = self.calibrate(f"{GPU}=two.csv", "--class", "gemm", "--scale")
        self.write("one.csv", "op,dtype,m,n,k,time_us\ngemm,bf16,4096,4096,4096,800\n")
        once = self.calibrate(f"{GPU}=one.csv", "--class", "gemm", "--scale")
        self.assertEqual((once.returncode, once.stderr, once.stdout), (0, "", twice.stdout))

    def test_what_cannot_be_is_refused_and_nothing_is_written(self):
        self.measure(1.3)
        self.measure(1.3, "fp32.csv", "fp32")
        self.measure(20, "slow.csv")
        bf16 = (self.folder / "measured.csv").read_text()
        fp32 = (self.folder / "fp32.csv").read_text()
        self.write("mixed.csv", bf16 + fp32.split("\n", 1)[1])
        self.write("two.csv", f"op,dtype,m,n,k,time_us,gpu\ngemm,bf16,64,64,64,5,h100-sxm\ngemm,bf16,64,64,64,5,{GPU}\n")
        self.write("scale_only.toml", '[kernels.matrix_gemm]\nscale = { value = 1.0, kind = "derived", source = "x" }\n')
        before = self.files()
        own = f"{GPU}=measured.csv"
        for arguments, code, message in (
            ((own, "--class", "gem"), 2, "--class: gem not in"),
            ((own,), 2, "--class is required"),
            (("--class", "gemm"), 2, "FILE is required"),
            (("a101=measured.csv", "--class", "gemm"), 2, "unknown GPU preset 'a101'.*a100-sxm-80gb"),
            ((own, "--class", "gemm", "--train", "a101"), 2, "unknown GPU preset 'a101'"),
            (("measured.csv", "--class", "gemm"), 3, "^measured.csv:1:1: gpu: the table does not say"),
            ((own, "--class", "vector"), 2, "no row of class vector to fit"),
            ((own, "--class", "gemm", "--min-time", "1 s"), 2, "18 below --min-time"),
            ((own, "--class", "gemm", "--min-time", "1 parsec"), 2, "--min-time: .*parsec"),
            ((own, "--class", "gemm", "--train", "t4"), 2, "no row of class gemm to fit"),
            (("t4=measured.csv", "--class", "gemm"), 2, "18 impossible"),
            ((f"{GPU}=mixed.csv", "--class", "gemm"), 2, "fp32 runs on vector units"),
            ((own, "--class", "gemm", "--hold", "operand_default,sahre_default"), 2, "no coefficient 'sahre_default' to hold"),
            ((own, "--class", "gemm", "--free", "operand_default"), 2, "--free: 'operand_default' is no coefficient that is only"),
            ((own, "--class", "gemm", "--min-time", "300 us", *QUICK), 2, "parameters of . rows"),
            ((own, "--class", "gemm", "--folds", "50", *QUICK), 2, "50 folds of 18 keys"),
            ((own, "--class", "gemm", "--start", "scale_only.toml"), 3,
             r"^scale_only.toml:.*kernels.matrix_gemm.share_default: is missing"),
            (("two.csv", "--class", "gemm", "--scale"), 2, "--scale: the rows must be of one GPU"),
            ((f"{GPU}=slow.csv", "--class", "gemm", "--scale"), 2, "--scale: the factor is not within 0.2..5"),
            ((f"{GPU}=none.csv", "--class", "gemm"), 74, "none.csv: cannot read: No such file"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_one_line(self.calibrate(*arguments, "-o", "new.toml"), code, message)
                self.assertEqual(self.files(), before)

    def test_broken_rows_are_named(self):
        self.write("broken.csv", "op,dtype,m,n,k,time_us\ngemm,bf16,64,64,64,nan\ngemm,bf16,64,64,x,5\n")
        done = self.calibrate(f"{GPU}=broken.csv", "--class", "gemm")
        self.assertEqual(done.returncode, 2)
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], r"^broken.csv:2:20: time: ")
        self.assertRegex(lines[1], r"^broken.csv:3:17: k: ")
        self.assertIn("no row of class gemm to fit: 2 broken", lines[2])

    def test_measurements_are_not_written_over(self):
        self.measure(1.0)
        before = self.files()
        self.assert_one_line(self.calibrate(f"{GPU}=measured.csv", "--class", "gemm", "--scale", "-o", "measured.csv"), 2,
                             "is a file with measurements")
        self.assertEqual(self.files(), before)

    def test_a_place_that_cannot_be_written_is_74_and_leaves_no_file(self):
        self.measure(1.3)
        (self.folder / "folder").mkdir()
        for output in ("no/such/new.toml", "/proc/new.toml", "folder"):
            for how in (("--scale",), QUICK):
                with self.subTest(output=output, how=how):
                    done = self.calibrate(f"{GPU}=measured.csv", "--class", "gemm", *how, "-o", output)
                    self.assertEqual(done.returncode, 74)
                    self.assertRegex(done.stderr, rf"^c3sim: {output}: cannot ")
                    self.assertEqual(self.files(), ["measured.csv"])

    def test_without_output_nothing_is_written(self):
        self.measure(1.3)
        self.assertEqual(self.calibrate(f"{GPU}=measured.csv", "--class", "gemm", "--scale").returncode, 0)
        self.assertEqual(self.files(), ["measured.csv"])

    def test_help_has_examples(self):
        done = self.calibrate("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("c3sim calibrate my-gpu=twenty.csv --class gemm --scale", done.stdout)
        for option in ("--class", "--train", "--hold", "--start", "--scale", "--min-time", "--folds", "--rows"):
            self.assertIn(option, done.stdout)


if __name__ == "__main__":
    unittest.main()
