"""c3sim project: a step from one that is profiled; and the studies that project and profile, on few scenarios."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from command import SOURCE, ScratchTest, c3sim

LAYER = SOURCE / "configs/experiments/scaling_laws/layer.toml"
BERT = SOURCE / "configs/experiments/bert/bert_large_mi100.toml"
LARGE = ["model.hidden=4096", "model.ffn=16384", "model.heads=32", "model.kv_heads=32"]


def project(*arguments):
    return c3sim("-q", "project", LAYER, "--from", LAYER, *arguments)


def sets(*keys):
    return [word for key in keys for word in ("--set", key)]


class Project(ScratchTest):
    def test_the_profiled_step_itself_is_its_operators_alone(self):
        found = json.loads(project("--check", "--json").stdout)
        self.assertAlmostEqual(found["time_us"], found["check"]["alone_us"], delta=1e-6 * found["time_us"])
        self.assertEqual(found["profiled"], found["check"]["timed"])
        self.assertGreater(found["operators"], 3 * found["profiled"])
        self.assertAlmostEqual(found["time_us"] / found["check"]["simulated_us"] - 1, found["check"]["error"], delta=1e-9)
        self.assertLess(abs(found["check"]["error"]), 0.1)

    def test_products_grow_with_their_flops_and_shrink_with_peak_rates(self):
        def times(*keys):
            found = json.loads(project("--json", *sets(*keys)).stdout)
            return {each["class"]: each["time_us"] for each in found["classes"]}

        small, large, fast = times(), times(*LARGE), times("+gpu.flops_scale=2")
        # Weights are 16 times as large; attention's scores and values, a twelfth of the flops, 4 times.
        self.assertGreater(large["gemm"], 13 * small["gemm"])
        self.assertLess(large["gemm"], 16 * small["gemm"])
        self.assertAlmostEqual(fast["gemm"], small["gemm"] / 2, delta=1e-6 * small["gemm"])
        self.assertEqual(fast["all_reduce of 4"], small["all_reduce of 4"])

    def test_a_convolution_is_projected_by_its_flops(self):
        job = """schema = 1
system = "{}"
[[stream]]
name = "compute"
run = [{{ kernel = {{ op = "convolution", b = 64, channels = 256, filters = 256, height = 56, filter_h = 3, pad_h = 1, dtype = "fp16" }} }}]
[strategy.alone]
"""
        for name in ("h100-sxm-8", "h200-sxm-8"):
            (self.folder / f"{name}.toml").write_text(job.format(name))
        done = c3sim("-q", "project", "h200-sxm-8.toml", "--from", "h100-sxm-8.toml", "--check", "--json", folder=self.folder)
        found = json.loads(done.stdout)
        self.assertEqual([each["class"] for each in found["classes"]], ["convolution"])
        self.assertLess(abs(found["check"]["error"]), 0.1)

    def test_a_table_says_what_was_projected_and_how_far_it_is_off(self):
        text = project("--check", *sets(*LARGE)).stdout
        self.assertRegex(text, r"^layer on a100-sxm-80gb-8, projected from .*layer.toml: \d+ operators of the step from \d+ that were profiled\n")
        self.assertRegex(text, r"\nprojected +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+%\n")
        self.assertRegex(text, r"\nsimulated +[\d.]+ +[+-][\d.]+%\n")

    def test_what_cannot_be_projected_is_refused_by_name(self):
        self.assert_one_line(project("--from-set", "training.tensor_parallel=1"), 2,
                             r"layer.toml: cannot be projected from .*layer.toml: the baseline has no operator '.+'; profile a step that has it$")
        self.assert_one_line(project(*sets("+training.pipeline=2", "model.layers=4")), 2, "has ranks that do different things")
        self.assert_one_line(project("--set", "model.hiden=1"), 3, "did you mean")
        self.assert_one_line(c3sim("project", LAYER), 2, "--from is required")


class Studies(ScratchTest):
    """Of scenarios of one's own, in C3SIM_CONFIGS."""

    def reproduce(self, study, table, text, *arguments):
        folder = self.folder / "studies" / study
        folder.mkdir(parents=True)
        (folder / table).write_text(text)
        with unittest.mock.patch.dict(os.environ, {"C3SIM_CONFIGS": str(self.folder)}):
            return c3sim("-q", "reproduce", study, "--json", "--data", self.folder, "--rows", self.folder / "rows.csv", *arguments)

    def tables(self):
        for name, text in {"kernels/neusight_mi100_linear.csv": "m,n,k,ms\n4096,4096,4096,5\n1024,4096,4096,2.5\n",
                           "kernels/neusight_mi100_vec.csv": "op,b,h,ms\nln,1000,1000,1\nadd,1,1,1\n",
                           "kernels/gemm_a100_sxm.csv": "dtype,m,n,k,ms\nbfloat16,4096,4096,4096,1\nfp8,1,1,1,1\n",
                           "kernels/gemm_h100_sxm.csv": "dtype,m,n,k,ms\nbfloat16,4096,4096,4096,1\n",
                           "collectives/nccl_single_node_a100_h100.csv": "system,op,num_gpus,bytes,ms\n"
                           + "".join(f"{gpu}_sxm,all_reduce,8,{bytes},{ms}\n" for gpu in ("a100", "h100") for bytes, ms in ((4096, 9), (67108864, 1), (134217728, 1)))
                           }.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)

    def picture(self, script):
        done = subprocess.run([sys.executable, "-B", SOURCE / script, self.folder / "rows.csv", "-o", self.folder / "picture.svg"],
                              env={**os.environ, "MPLCONFIGDIR": tempfile.gettempdir()}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("<svg", (self.folder / "picture.svg").read_text())

    def test_points_obey_the_closed_forms_and_tables_are_projected_from_one_row(self):
        self.tables()
        done = self.reproduce("scaling_laws", "points.csv", "hidden,sequence,batch,tensor_parallel,needed\n1024,1024,1,4,1\n4096,1024,1,8,1\n")
        figures = {figure["id"]: figure for figure in json.loads(done.stdout)["figures"] if not figure["id"].startswith(("share", "tables"))}
        for name in ("edge", "slack", "trend.compute"):
            self.assertTrue(figures[name]["pass"], name)
        self.assertEqual(figures["projection.bert"]["rows"], 6)
        self.assertGreater(figures["cost.operators"]["simulated"], 5)
        # From 5 ms: a quarter of the flops is 1.25 ms, half of the measured 2.5; twice the bytes 2 ms, twice the 1 ms.
        tables = [figure for figure in json.loads(done.stdout)["figures"] if figure["id"].startswith("tables")]
        self.assertEqual([(figure["simulated"], figure["rows"], figure["skipped"]) for figure in tables],
                         [(25, 2, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0), (50, 2, 1), (50, 2, 1)])
        self.picture("studies/scaling_laws/plot_shares.py")

    def test_points_that_cannot_be_are_refused_with_their_place(self):
        self.tables()
        for row, reason in (("1000,1024,1,4,0", "must be a multiple of 128"), ("1024,1024,1,16,0", "must divide the 8 heads"),
                            ("1024,1024,1,256,0", "128")):
            with self.subTest(row=row):
                done = self.reproduce("scaling_laws", "points.csv", f"hidden,sequence,batch,tensor_parallel,needed\n{row}\n")
                self.assertEqual(done.returncode, 3)
                self.assertRegex(done.stderr, rf"points.csv:2:\d+: .*{reason}")
                (self.folder / "studies/scaling_laws/points.csv").unlink()
                (self.folder / "studies/scaling_laws").rmdir()

    def test_strides_and_mappings_camp_as_closed_forms_say(self):
        done = c3sim("-q", "reproduce", "camping", "--json", "--rows", self.folder / "rows.csv")
        figures = {}
        for figure in json.loads(done.stdout)["figures"]:
            figures.setdefault(figure["id"], []).append(figure)
        for name in ("laws.consecutive", "laws.xor", "laws.ipoly", "laws.joint", "grain.random"):
            for figure in figures[name]:
                self.assertTrue(figure["pass"], name)
        consecutive, *others = [figure["simulated"] for figure in figures["pair"]]
        self.assertGreater(consecutive, max(others))
        self.assertGreater(len(figures["buffers"]), 0)
        self.picture("studies/camping/plot_channels.py")

    def test_copies_made_just_in_time_cost_less_the_faster_memory_computes(self):
        done = self.reproduce("jitq", "models.csv", "model,sequences,sequence,gpus\nbert-large,1,512,1\n")
        figures = {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}
        for name in ("capacity.bits", "capacity.saved", "capacity.cap", "mechanism.same", "mechanism.rises"):
            self.assertTrue(figures[name]["pass"], name)
        with open(self.folder / "rows.csv", newline="", encoding="utf-8") as file:
            losses = [float(row["loss_percent"]) for row in csv.DictReader(file)]
        self.assertEqual(len(losses), 8)
        self.assertGreater(losses[0], losses[3])  # at a quarter of HBM's rate and at twice that
        self.assertGreaterEqual(figures["window"]["simulated"], figures["window"]["beside"]["4 buffers"])
        self.picture("studies/jitq/plot_loss.py")

    def test_models_that_jitq_cannot_take_are_refused_with_their_place(self):
        for row, reason in (("bert-larg,1,512,1", "did you mean 'bert-large'"), ("mixtral-8x7b,1,512,1", "without experts"), ("bert-large,1,512,9", "8")):
            with self.subTest(row=row):
                done = self.reproduce("jitq", "models.csv", f"model,sequences,sequence,gpus\n{row}\n")
                self.assertEqual(done.returncode, 3)
                self.assertRegex(done.stderr, rf"models.csv:2:\d+: .*{reason}")
                (self.folder / "studies/jitq/models.csv").unlink()
                (self.folder / "studies/jitq").rmdir()

    def test_bert_s_steps_are_broken_down_and_one_result_of_mlperf_is_simulated(self):
        done = self.reproduce("bert", "throughput.csv", "id,label,system,nodes,micro_batch,micro_batches,sequence,predictions\n"
                              "dgxa100,DGX A100,dgx-a100-8,1,32,1,298,45\n")
        figures = {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}
        for name in ("split.linear", "split.attention", "optimizer.precision", "optimizer.tokens", "throughput.dgxa100"):
            self.assertTrue(figures[name]["pass"], name)
        self.assertNotIn("throughput.dgx1", figures)
        self.assertAlmostEqual(figures["optimizer.bytes"]["simulated"], 12, delta=0.1)
        for figure in json.loads(done.stdout)["figures"]:
            if figure["id"] == "cells":
                shares = sum(value for name, value in figure["beside"].items() if not name.endswith("[ms]"))
                self.assertAlmostEqual(shares, 100, delta=1e-6)
        with open(self.folder / "rows.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["class"] for row in rows} >= {"linear", "fc", "attention", "scores", "norms", "optimizer"}, True)
        self.picture("studies/bert/plot_intensity.py")


class Optimizers(unittest.TestCase):
    def test_an_unknown_optimizer_and_heads_that_cannot_be_are_refused(self):
        for key, reason in (('training.optimizer="lam"', "did you mean 'lamb'"), ("training.predictions=129", "must not exceed the sequence of 128 tokens"),
                            ('training.head="classifier"', "predicts no words")):
            done = c3sim("run", BERT, "--set", key)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main()
