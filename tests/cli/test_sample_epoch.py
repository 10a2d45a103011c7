"""c3sim sample epoch: a training job with a distribution of lengths, from a few steps."""

import csv
import json
import unittest

from command import ScratchTest, c3sim

JOB = """
schema = 1
name   = "job"
system = "h100-sxm-8"

[model]
use    = "gpt3-1.3b"
layers = 2
dtype  = "bf16"

[training]
framework   = "pytorch-eager"
sequence    = 2048
micro_batch = 2
sharding    = "fsdp"

[strategy.first]
[strategy.dma]
all_gather.backend = "dma"

[workload.lengths]
"""
HISTOGRAM = "histogram = [[100, 30], [700, 50], [1900, 20]]\n"
LOGNORMAL = "sequences = 4000\nlognormal = { median = 400, deviation = 0.7 }\nmultiple = 16\n"


class SampleEpoch(ScratchTest):
    def job(self, lengths, name="job.toml"):
        (self.folder / name).write_text(JOB + lengths)
        return self.folder / name

    def sample(self, lengths, *arguments):
        done = c3sim("sample", "epoch", self.job(lengths), "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_the_estimate_is_within_its_bound_of_every_length_simulated_and_says_what_it_is(self):
        found = self.sample(LOGNORMAL, "--whole", "--error", "0.01")
        self.assertEqual((found["sequences"], found["batch"], found["iterations"]), (4000, 16, 250))
        self.assertEqual([one["strategy"] for one in found["strategies"]], ["first", "dma"])
        for one in found["strategies"]:
            with self.subTest(strategy=one["strategy"]):
                estimate, points = one["estimate"], one["points"]
                self.assertEqual((estimate["method"], estimate["bound"]), ("seqpoint", 0.01))
                self.assertAlmostEqual(one["time_us"] / one["whole_us"], 1, delta=0.01)
                self.assertLess(estimate["low_us"], one["whole_us"])
                self.assertGreater(estimate["high_us"], one["whole_us"])
                self.assertEqual(sum(point["weight"] for point in points), 250)
                self.assertAlmostEqual(sum(point["weight"] * point["time_us"] for point in points), one["time_us"], places=3)
                # Lengths that tell how time grows are simulated beside the points.
                self.assertGreaterEqual(estimate["simulated"], len(points))
                self.assertGreaterEqual(estimate["share_simulated"] + 1e-9, sum(point["time_us"] for point in points) / one["time_us"])
                self.assertLess(estimate["simulated"], found["iterations"] / 5)

    def test_a_point_takes_the_time_of_a_run_of_its_length(self):
        (first, _) = self.sample(HISTOGRAM)["strategies"]
        file = self.job(HISTOGRAM)
        for point in first["points"]:
            length = int(point["length"])
            done = c3sim("run", file, "--set", f"training.sequence={length}", "--set", "~workload", "--json", "-o", self.folder / "x.h5")
            self.assertAlmostEqual(json.loads(done.stdout)["strategies"][0]["time_us"] / point["time_us"], 1, places=6)

    def test_sorted_sequences_have_little_padding_and_packed_ones_are_full(self):
        padded, ordered, packed = (self.sample(LOGNORMAL + f'batches = "{how}"\n') for how in ("padded", "sorted", "packed"))
        self.assertGreater(padded["padding"], 0.4)
        self.assertLess(ordered["padding"], 0.1)
        self.assertLess(packed["padding"], 0.05)
        self.assertLess(ordered["strategies"][0]["time_us"], padded["strategies"][0]["time_us"])
        (point,) = packed["strategies"][0]["points"]
        self.assertEqual((point["length"], point["weight"]), (2048, packed["iterations"]))

    def test_a_table_of_lengths_beside_the_experiment_says_the_same_as_a_histogram(self):
        with open(self.folder / "lengths.csv", "w", newline="") as file:
            csv.writer(file).writerows([("Seq Len", "count"), (100, 30), (700, 20), (700, 30), (1900, 20)])
        self.assertEqual(self.sample('file = "lengths.csv"\n'), self.sample(HISTOGRAM))

    def test_the_text_is_labelled_with_method_bound_and_share_simulated(self):
        done = c3sim("sample", "epoch", self.job(LOGNORMAL))
        self.assertRegex(done.stdout, r"\Ajob: 4000 sequences, padded, in 250 iterations of 16; [\d.]+% of their tokens are padding\n")
        for name in ("first", "dma"):
            self.assertRegex(done.stdout, rf"\n{name}: an epoch takes [\d.]+ s by seqpoint, within 1\.00%: [\d.]+ s to [\d.]+ s; "
                                          r"simulated \d+ of 250 iterations, [\d.]+% of the time\n")

    def test_a_run_of_the_file_is_one_step_and_says_so(self):
        done = c3sim("run", self.job(HISTOGRAM), "--json", "-o", self.folder / "x.h5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("one step of training.sequence tokens is simulated; c3sim sample epoch", done.stderr)

    def test_mistakes_are_named_with_their_place(self):
        for lengths, pattern in {
                LOGNORMAL + HISTOGRAM: r"job\.toml:\d+:\d+: workload\.lengths\.histogram: exactly one of lognormal, histogram and file",
                "sequences = 10\n": r"workload\.lengths\.lognormal: exactly one of",
                "lognormal = { median = 400, deviation = 0.7 }\n": r"workload\.lengths\.lognormal: requires sequences",
                HISTOGRAM + "longest = 4096\n": r"workload\.lengths\.longest: must not exceed training\.sequence, which is 2048",
                HISTOGRAM + "multiple = 100\n": r"workload\.lengths\.multiple: must divide training\.sequence",
                HISTOGRAM + "shortest = 9\nlongest = 8\n": r"workload\.lengths\.shortest: must not exceed longest, which is 8",
                HISTOGRAM + 'batches = "sorte"\n': r"did you mean 'sorted'\?",
                HISTOGRAM + "multipel = 16\n": r"workload\.lengths\.multipel: unknown key; did you mean 'multiple'\?",
                "histogram = [[100]]\n": r"workload\.lengths\.histogram: must be a pair of a length and a count",
                "histogram = [[100, 0]]\n": r"workload\.lengths\.histogram: must be a whole number from 1",
                'file = "no.csv"\n': r"no\.csv"}.items():
            with self.subTest(lengths=lengths):
                done = c3sim("sample", "epoch", self.job(lengths))
                self.assertIn(done.returncode, (3, 74))
                self.assertRegex(done.stderr, pattern)
        (self.folder / "bad.csv").write_text("length,count\n100,x\n")
        self.assert_one_line(c3sim("sample", "epoch", self.job('file = "bad.csv"\n')), 3, r"bad\.csv:2:5: count: 'x' is not a number")
        (self.folder / "none.toml").write_text(JOB.replace("[workload.lengths]", ""))
        self.assert_one_line(c3sim("sample", "epoch", self.folder / "none.toml"), 3,
                             r"none\.toml:1:1: workload\.lengths: is missing: how long the sequences of the job are, as in \[workload\.lengths\] ")


if __name__ == "__main__":
    unittest.main()
