"""[image_network]: training steps and inference of convolutional networks."""

import json
import re
import unittest

import h5py

from command import SOURCE, ScratchTest, c3sim

EXPERIMENTS = SOURCE / "configs/experiments/images"
PARAMETERS = {"resnet-50": "25,557,032", "inception-v3": "27,161,264", "vgg-16": "138,357,544",
              "lenet-5": "61,706", "deep-speech-2-front": "251,104"}
STEP = """
schema = 1
system = "mi100-4"
[image_network]
use   = "lenet-5"
batch = 8
dtype = "fp16"
[strategy.step]
"""


class ImageNetwork(ScratchTest):
    def run_step(self, name, *sets):
        sets = [part for one in sets for part in ("--set", one)]
        done = c3sim("run", EXPERIMENTS / f"{name}.toml", *sets, "--json", "-o", self.folder / "step.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr, json.loads(done.stdout)["strategies"][0]

    def test_every_network_trains_and_says_its_parameters(self):
        for network, parameters in PARAMETERS.items():
            with self.subTest(network=network):
                note, step = self.run_step("resnet50_mi250x", f"image_network.use={network}")
                self.assertIn(f"{network} has {parameters} parameters", note)
                self.assertGreater(step["collective"]["alone_us"], 0)

    def test_images_a_second_are_those_of_all_ranks_over_the_time_wherever_they_are_said(self):
        (self.folder / "step.toml").write_text(STEP)
        done = c3sim("run", self.folder / "step.toml", "--json", "-o", self.folder / "step.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        step = json.loads(done.stdout)["strategies"][0]
        images = 4 * 8  # four GPUs with a batch of eight
        said = step["throughput"]
        self.assertEqual((said["of"], said["of_step"]), ("images", images))
        self.assertAlmostEqual(said["per_second"] * step["time_us"] / 1e6, images, places=9)
        self.assertAlmostEqual(said["per_second_per_gpu"], said["per_second"] / 4, places=6)
        with h5py.File(self.folder / "step.h5") as file:
            summary = file["strategies/step/summary"]
            self.assertEqual(summary["images"][0], images)
            self.assertAlmostEqual(summary["images_per_second"][0], said["per_second"], places=6)
            self.assertAlmostEqual(summary["images_per_second_per_gpu"][0], said["per_second_per_gpu"], places=6)
        table = c3sim("run", self.folder / "step.toml", "-o", self.folder / "again.h5").stdout
        self.assertRegex(table, rf"\nstrategy +images/s +per GPU\n-+\nstep +{said['per_second']:.0f} +{said['per_second_per_gpu']:.0f}\n"
                                r"32 images a step of 4 GPUs\n")

    def test_steps_of_unlike_batches_are_compared_by_image(self):
        rates = []
        (self.folder / "step.toml").write_text(STEP)
        for batch in (8, 64):
            done = c3sim("run", self.folder / "step.toml", "--json", "--set", f"image_network.batch={batch}", "-o",
                         self.folder / f"{batch}.h5")
            rates.append(json.loads(done.stdout)["strategies"][0]["throughput"]["per_second"])
        done = c3sim("report", "8.h5", "64.h5", "-o", "both.html", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "both.html").read_text()
        self.assertIn("ratios below are per image", page)
        self.assertIn(f">{rates[0] / rates[1]:.2f}<", page)

    def test_a_sweep_of_batches_has_images_a_second_and_draws_them(self):
        (self.folder / "step.toml").write_text(STEP + '[sweep.product]\n"image_network.batch" = [8, 64]\n')
        self.assertEqual(c3sim("sweep", self.folder / "step.toml", "-q", "-o", self.folder / "swept").returncode, 0)
        self.assertEqual(c3sim("merge", "-q", self.folder / "swept", "-o", self.folder / "swept.h5").returncode, 0)
        with h5py.File(self.folder / "swept.h5") as file:
            rates = file["points/step.images_per_second"][:]
        self.assertLess(rates[0], rates[1])
        self.assertEqual(c3sim("report", "-q", self.folder / "swept.h5", "-o", self.folder / "page.html").returncode, 0)
        self.assertIn("images_per_second", (self.folder / "page.html").read_text())

    def test_inference_takes_less_than_half_of_a_step_and_sums_nothing(self):
        _, step = self.run_step("resnet50_mi250x")
        _, inference = self.run_step("resnet50_mi250x", "image_network.pass=inference")
        self.assertLess(inference["time_us"], 0.5 * step["time_us"])
        self.assertEqual(inference["kernel"]["together_us"], inference["time_us"])

    def test_buckets_hide_most_of_the_sums_and_one_bucket_none(self):
        _, buckets = self.run_step("vgg16_mi100")
        _, one = self.run_step("vgg16_mi100", 'image_network.bucket="1 GiB"')
        self.assertGreater(buckets["share_of_ideal"], 0.7)
        self.assertLess(one["share_of_ideal"], 0.1)
        self.assertGreater(one["time_us"], 1.05 * buckets["time_us"])

    def test_a_host_launches_each_kernel_and_small_batches_wait_for_it(self):
        # Of 161 layers and their gradients each kernel takes the host some 50 us: 13 ms and more a step.
        one = ("image_network.batch=1",)
        never_late = self.run_step("resnet50_mi250x", *one)[1]["time_us"]
        hosted = self.run_step("resnet50_mi250x", *one, "image_network.host=lin-2022")[1]["time_us"]
        self.assertGreater(hosted, 13_000)
        self.assertLess(never_late, 0.7 * hosted)
        many = ("image_network.batch=256",)
        never_late = self.run_step("resnet50_mi250x", *many)[1]["time_us"]
        hosted = self.run_step("resnet50_mi250x", *many, "image_network.host=lin-2022")[1]["time_us"]
        self.assertLess(hosted, 1.05 * never_late)

    def test_a_serial_strategy_runs_operations_in_the_order_of_the_program(self):
        (self.folder / "step.toml").write_text(STEP.replace("lenet-5", "vgg-16") + "[strategy.serial]\nserial = true\n")
        done = c3sim("run", self.folder / "step.toml", "--json", "-o", self.folder / "step.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        step, serial = (each["time_us"] for each in json.loads(done.stdout)["strategies"])
        self.assertGreater(serial, step)

    def test_a_batch_that_does_not_fit_is_noted(self):
        note, _ = self.run_step("vgg16_mi100", "image_network.batch=512")
        self.assertRegex(note, r"a GPU holds [0-9.]+ of 34.3 GB: more than it has; take a smaller batch")

    def test_what_a_gpu_holds_is_known_without_a_run(self):
        done = c3sim("memory", EXPERIMENTS / "vgg16_mi100.toml", "--json")
        held = json.loads(done.stdout)
        (ranks,) = held["classes"]
        self.assertTrue(held["fits"])
        self.assertEqual([moment["name"] for moment in ranks["moments"]], ["forward", "backward", "optimizer"])
        self.assertEqual(ranks["moments"][0]["by_class"]["weights"], 4 * 138_357_544)
        self.assertIn(f"a GPU holds {ranks['needed_bytes'] / 1e9:.3g} of 34.3 GB", done.stderr)
        much = c3sim("memory", EXPERIMENTS / "vgg16_mi100.toml", "--set", "image_network.batch=512")
        self.assertEqual(much.returncode, 4, much.stderr)
        self.assertIn("does not fit", much.stdout)

    def test_what_is_wrong_is_refused_at_its_place(self):
        for text, message in {
                STEP.replace("use ", 'host = "grace"\nuse '): r"host: 'grace' has no times of operators",
                STEP.replace("lenet-5", "lenet-4"): r"image_network\.use: unknown name 'lenet-4'; did you mean 'lenet-5'",
                STEP.replace("fp16", "fp8"): r"image_network\.dtype: unknown name 'fp8'; .*bf16, fp16, fp32",
                STEP.replace("batch = 8", "batch = 0"): r"image_network\.batch: ",
                STEP.replace("batch", "bach"): r"image_network\.bach: unknown key; did you mean 'batch'|image_network\.batch",
                STEP + '[[stream]]\nname = "a"\nrun = []\n': r"image_network: cannot be combined with"}.items():
            with self.subTest(message=message):
                (self.folder / "step.toml").write_text(text)
                done = c3sim("config", "check", self.folder / "step.toml")
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertRegex(done.stderr, r"step\.toml:\d+:\d+: ")
                self.assertTrue(re.search(message, done.stderr), done.stderr)


if __name__ == "__main__":
    unittest.main()
