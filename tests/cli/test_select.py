"""c3sim select: kernels that MIOpen and rocBLAS would take, by the shipped weights."""

import gzip
import json
import os
import subprocess
import unittest

from command import COMMAND, SOURCE, ScratchTest, c3sim

CONVOLUTION = ("-b", 64, "--channels", 64, "--filters", 64, "--height", 56, "--filter-h", 3, "--pad-h", 1, "--dtype", "fp16")


def rows(*arguments):
    return json.loads(c3sim("select", *arguments, "--json").stdout)["rows"]


def kernel_time(*arguments):
    """Of c3sim kernel; None for what it cannot run."""
    done = c3sim("kernel", *arguments, "--json")
    return json.loads(done.stdout)["rows"][0]["time_us"] if done.returncode == 0 else None


class Select(ScratchTest):
    def test_solvers_of_a_convolution_are_ranked_by_probability(self):
        for gpu, family in (("mi100", "cdna1"), ("mi210", "cdna2"), ("mi250x-gcd", "cdna2"), ("mi300x", "cdna2")):
            row = rows("convolution", "--gpu", gpu, *CONVOLUTION, "--top", "50")[0]
            self.assertEqual((row["learned_on"], row["channels"], row["pass"]), (family, 64, "forward"))
            odds = [kernel["probability"] for kernel in row["kernels"]]
            self.assertEqual(odds, sorted(odds, reverse=True))
            self.assertAlmostEqual(sum(odds), 1, places=9)  # all that were seen for the kind
            self.assertTrue(all(kernel["solver"].startswith(("Conv", "Gemm", "fft")) for kernel in row["kernels"]))

    def test_each_solver_has_the_time_of_ours_that_is_like_it(self):
        seen = set()
        for gpu, dtype in (("mi100", "fp16"), ("mi210", "fp16"), ("mi210", "fp32")):
            shape = [*CONVOLUTION[:-1], dtype]
            times = {solver: time for solver in ("implicit_gemm", "gemm", "direct", "winograd", "fft")
                     if (time := kernel_time("convolution", "--gpu", gpu, *shape, "--solver", solver))}
            self.assertGreater(len(times), 3)
            row = rows("convolution", "--gpu", gpu, *shape, "--top", "50")[0]
            self.assertEqual(row["cost_model"], {"solver": min(times, key=times.get), "time_us": kernel_time("convolution", "--gpu", gpu, *shape)})
            for kernel in row["kernels"]:
                self.assertEqual(kernel["modelled_as"] is None, "Naive" in kernel["solver"])
                self.assertEqual(kernel["time_us"], times.get(kernel["modelled_as"]))
            seen.add(row["cost_model"]["time_us"])
        self.assertEqual(len(seen), 3)  # no GPU or type has another's

    def test_each_product_has_its_time_by_the_cost_model_and_the_models_own_choice(self):
        seen = set()
        for gpu, dtype in (("mi100", "fp16"), ("mi100", "fp32"), ("mi210", "fp16"), ("mi210", "fp32"), ("mi300x", "fp16")):
            shape = ("gemm", "--gpu", gpu, "-m", 4096, "-n", 4000, "-k", 1000, "--dtype", dtype)
            row = rows(*shape, "--top", "3")[0]
            chosen, fastest = (kernel_time(*shape, "--set", f"gpu.gemm_choice={choice}") for choice in ("library", "fastest"))
            self.assertEqual((row["kernels"][0]["time_us"], row["cost_model"]["time_us"]), (chosen, fastest))
            seen |= {chosen, fastest}
            times = [kernel["time_us"] for kernel in row["kernels"]]
            self.assertEqual(len(set(times)), len(times))  # each its own
        self.assertEqual(len(seen), 10)

    def test_a_learned_product_that_is_the_models_own_has_its_time(self):
        row = rows("gemm", "--gpu", "mi100", "-m", 4096, "-n", 4096, "-k", 4096, "--dtype", "fp32")[0]
        own = [kernel for kernel in row["kernels"] if all(kernel[key] == row["cost_model"][key] for key in ("tile_m", "tile_n", "depth_k", "split_k"))]
        self.assertEqual([kernel["time_us"] for kernel in own], [row["cost_model"]["time_us"]])

    def test_kernels_for_other_units_than_the_models_have_no_time(self):
        row = rows("gemm", "--gpu", "mi100", "-m", 84, "-n", 10, "-k", 32, "--dtype", "fp32", "--layout", "nt", "--top", "50")[0]
        for kernel in row["kernels"]:
            self.assertEqual(kernel["time_us"] is None, kernel["instruction"] == "vector")
        self.assertEqual(len({kernel["instruction"] == "vector" for kernel in row["kernels"]}), 2)
        self.assertIsNotNone(row["cost_model"]["time_us"])
        for kernel in rows("gemm", "--gpu", "mi300x", "-m", 84, "-n", 10, "-k", 32, "--dtype", "fp32", "--top", "50")[0]["kernels"]:
            self.assertEqual(kernel["time_us"] is None, kernel["instruction"] != "vector")

    def test_what_the_model_cannot_run_is_still_selected(self):
        huge = ("gemm", "--gpu", "mi100", "-m", 300000, "-n", 300000, "-k", 4096, "--dtype", "fp32")  # C has 360 GB
        row = rows(*huge)[0]
        self.assertEqual((row["cost_model"], {kernel["time_us"] for kernel in row["kernels"]}), (None, {None}))
        self.assertNotIn("model", c3sim("select", *huge).stdout.split("probability:")[0])

    def test_passes_have_solvers_of_their_own(self):
        solvers = {which: {kernel["solver"] for kernel in rows("convolution", "--gpu", "mi100", *CONVOLUTION, "--pass", which, "--top", "50")[0]["kernels"]}
                   for which in ("forward", "weight")}
        self.assertIn("ConvMlirIgemmFwdXdlops", solvers["forward"])
        self.assertIn("ConvMlirIgemmWrWXdlops", solvers["weight"])
        self.assertNotIn("ConvMlirIgemmFwdXdlops", solvers["weight"])

    def test_kernels_of_products_are_sequences_of_tokens(self):
        found = rows("gemm", "--gpu", "mi100,mi300x", "-m", "4096", "-n", "1024,4096", "-k", "4096", "--dtype", "fp32")
        self.assertEqual([(row["gpu"], row["n"], len(row["kernels"])) for row in found],
                         [("mi100", 1024, 3), ("mi100", 4096, 3), ("mi300x", 1024, 3), ("mi300x", 4096, 3)])
        best = found[0]["kernels"][0]
        self.assertEqual(list(best), ["rank", "probability", "tile_m", "tile_n", "depth_k", "split_k", "instruction", "time_us"])
        self.assertGreaterEqual(best["tile_m"] * best["tile_n"], 64 * 64)  # a product this large fills the GPU

    def test_the_table_has_a_row_for_each_kernel_and_one_for_the_cost_model(self):
        done = c3sim("select", "gemm", "--gpu", "mi210", "-m", "512", "-n", "512", "-k", "64", "--dtype", "bf16", "--top", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stdout.splitlines() if line.startswith("mi210")]
        self.assertEqual([line.split("bf16")[1].split()[0] for line in lines], ["1", "2", "model"])
        row = rows("gemm", "--gpu", "mi210", "-m", "512", "-n", "512", "-k", "64", "--dtype", "bf16", "--top", "2")[0]
        times = [kernel["time_us"] for kernel in [*row["kernels"], row["cost_model"]]]
        self.assertEqual([line.split()[-1] for line in lines], [f"{time:.2f}" for time in times])
        tile = [str(row["cost_model"][key]) for key in ("tile_m", "tile_n", "depth_k", "split_k")]
        self.assertEqual(lines[2].split("model")[1].split()[:5], [*tile, "-"])

    def test_what_was_not_learned_is_said(self):
        self.assert_one_line(c3sim("select", "gemm", "--gpu", "h100-sxm", "-m", 1, "-n", 1, "-k", 1, "--dtype", "bf16"), 4,
                             r"rocBLAS were learned for h100-sxm \(hopper\), only for GPUs of cdna1, cdna2, cdna3$")
        odd = [*CONVOLUTION, "--filter-w", 2]
        self.assert_one_line(c3sim("select", "convolution", "--gpu", "mi100", *odd), 4, r"kind 'fp16 3x2' was seen, only of: fp16 .*fp16 3x3")
        self.assert_one_line(c3sim("select", "gemm", "--gpu", "mi100", "-m", 8, "-n", 8, "-k", 8, "--dtype", "fp8"), 4, "'fp8' was seen, only of: bf16, fp16, fp32")
        self.assert_one_line(c3sim("select", "convolution", "--gpu", "mi100", *CONVOLUTION, "--layout", "nhwc"), 4, "only kernels of nchw convolutions were learned")
        self.assert_one_line(c3sim("select", "embedding_bag", "--gpu", "mi100", "-b", 1), 2, "^c3sim: ")

    def test_wrong_words_are_named(self):
        self.assert_one_line(c3sim("select", "gemm", "--gpu", "mi1000", "-m", 1, "-n", 1, "-k", 1, "--dtype", "bf16"), 3, "did you mean 'mi100'")
        self.assert_one_line(c3sim("select", "gemm", "--gpu", "mi100", "-m", 0, "-n", 1, "-k", 1, "--dtype", "bf16"), 2, "^c3sim: -m: ")
        self.assert_one_line(c3sim("select", "gemm", "-m", 1, "-n", 1, "-k", 1, "--dtype", "bf16"), 2, "--gpu is required")
        self.assert_one_line(c3sim("select", "gemm", "--gpu", "mi100", "--top", 0), 2, "--top")

    def in_file(self, *arguments, code=0):
        done = c3sim("select", SOURCE / "configs/experiments/images/vgg16_mi100.toml", *arguments, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_an_experiment_is_a_row_for_each_distinct_convolution_and_product(self):
        # VGG-16: 13 convolutions of 9 shapes, whose first makes no gradient of its input; three linear layers, three products each.
        found = self.in_file()
        convolutions = [row for row in found["rows"] if row["op"] == "convolution"]
        products = [row for row in found["rows"] if row["op"] == "gemm"]
        self.assertEqual((len(convolutions), sum(row["calls"] for row in convolutions)), (9 + 8 + 9, 13 + 12 + 13))
        self.assertEqual((len(products), sum(row["calls"] for row in products)), (9, 9))
        self.assertEqual((found["experiment"], found["not_learned"]), ("vgg16_mi100", []))
        third = next(row for row in convolutions if row["first"] == "conv3_2.forward")
        alone = rows("convolution", "--gpu", "mi100", "-b", 32, "--channels", 256, "--filters", 256, "--height", 56, "--filter-h", 3,
                     "--pad-h", 1, "--dtype", "fp32")[0]
        self.assertEqual((third["calls"], third["kernels"], third["cost_model"]), (2, alone["kernels"], alone["cost_model"]))

    def test_kernels_of_an_experiment_are_timed_as_single_calls_whatever_its_clock(self):
        # A board of 300 W on which 16-bit convolutions draw far more, so that a queue of them slows down.
        governed = {"power_board": '"300 W"', "power_limit": '"300 W"', "power_idle": '"60 W"', "power_averaging": '"35 ms"',
                    "flop_pj": 9.9, "byte_pj": 60, "power_exponent": 0.3, "power_burst": 1.3}
        sets = [word for key, value in governed.items() for word in ("--set", f"+gpu.{key}={value}")]
        half = ("--set", "image_network.dtype=fp16", "--set", "image_network.batch=256", *sets)
        hot, cold = (self.in_file(*half, "--set", f"+gpu.clock_state={state}")["rows"] for state in ("sustained", "burst"))
        self.assertEqual(hot, cold)

    def test_shapes_of_an_experiment_that_were_not_learned_are_listed_with_the_reason(self):
        found = self.in_file("--set", "image_network.layout=nhwc")
        self.assertEqual({row["op"] for row in found["rows"]}, {"gemm"})
        self.assertEqual(len(found["not_learned"]), 26)
        self.assertIn("nchw", found["not_learned"][0]["why"])
        nothing = self.in_file("--gpu", "h100-sxm", code=4)
        self.assertEqual((nothing["rows"], len(nothing["not_learned"])), ([], 35))
        self.assertIn("no choices of MIOpen were learned for h100-sxm", nothing["not_learned"][0]["why"])

    def test_an_experiment_is_asked_of_any_gpu_and_printed_as_tables(self):
        file = SOURCE / "configs/experiments/images/vgg16_mi100.toml"
        done = c3sim("select", file, "--gpu", "mi210,mi300x", "--top", 1)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("conv3_2.forward"), 4)  # on either GPU the first kernel and the model's
        self.assertRegex(done.stdout, r"(?m)^convolution\n\ngpu +first +calls +shape +rank +solver +probability +learned on +modelled as +time \[us\]$")
        self.assertRegex(done.stdout, r"(?m)^gemm\n\ngpu +first +calls +shape +rank +tile_m ")

    def test_an_experiment_has_its_own_shapes(self):
        file = SOURCE / "configs/experiments/images/vgg16_mi100.toml"
        self.assert_one_line(c3sim("select", file, "-m", 64), 2, "^c3sim: -m: cannot be given with an experiment")
        self.assert_one_line(c3sim("select", "gemm", "--gpu", "mi100", "-m", 1, "-n", 1, "-k", 1, "--dtype", "bf16", "--set", "a=1"), 2, "--set: only with an experiment")
        self.assertEqual(c3sim("select", "missing.toml").returncode, 3)

    def test_damaged_weights_are_refused(self):
        # MI300X plans without them, so that the verb itself finds the damage; of MI100 the preset asks for them.
        weights = gzip.decompress((SOURCE / "configs/selection/rocblas.csv.gz").read_bytes()).replace(b",features,,", b",features,,9")
        (self.folder / "selection").mkdir()
        (self.folder / "selection/rocblas.csv.gz").write_bytes(gzip.compress(weights))
        for gpu, code, what in (("mi300x", 4, "the weights are of another version"), ("mi100", 3, r"mi100\.toml:\d+:\d+: gpu.gemm_choice: the weights .* another version")):
            done = subprocess.run([COMMAND, "select", "gemm", "--gpu", gpu, "-m", "1", "-n", "1", "-k", "1", "--dtype", "bf16"], text=True,
                                  env=os.environ | {"C3SIM_CONFIGS": str(self.folder)}, capture_output=True, check=False)
            self.assert_one_line(done, code, what)


if __name__ == "__main__":
    unittest.main()
