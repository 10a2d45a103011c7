"""c3sim reproduce sampling on small logs of no real machine and no trace but one: figures of what is there, and a line on what is not."""

import gzip
import json
import random
import unittest

from command import ScratchTest, c3sim
from test_import_gpu import trace

COLUMNS = "run,epoch,iteration,iterations_of_epoch,ms,running_mean_ms,tokens_per_s,tokens_per_sentence\n"


class ReproduceSampling(ScratchTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        lengths = [draw.choice((21, 42, 66, 91, 117)) + draw.randrange(3) for _ in range(2000)]
        (self.folder / "sampling").mkdir()
        for name, batch, slope in (("gnmt_dgx1_v100", 256, 2.4), ("gnmt_dgxa100", 384, 1.5)):
            rows = "".join(f"0,0,{10 * i},20000,{round(slope * n) if i else 999},0,0,{n}\n" for i, n in enumerate(lengths))
            (self.folder / f"sampling/{name}.csv").write_text(COLUMNS + rows)
        folder = self.folder / "traces/tracelens"
        folder.mkdir(parents=True)
        content = trace("AMD Instinct MI210", 104, 68702699520)
        (folder / "mi210_gpu_only.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))

    def test_figures_are_made_of_what_is_there(self):
        done = c3sim("reproduce", "sampling", "--data", self.folder, "--json")
        self.assertIn("the trace 'megatron_tp8_a100' is not there; its figures are left out", done.stderr)
        self.assertNotIn("mi210_gpu_only", done.stderr)
        figures = {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}
        self.assertNotIn("recorded.allegro.within.megatron", figures)
        self.assertEqual(figures["recorded.stem.within.mi210"]["simulated"], 100)
        self.assertNotIn("steps.stem.llama", figures)  # no kernel was recorded ten times, whose spread to take
        for name, figure in figures.items():
            if name.startswith(("reference.", "loop.", "epochs.time.ds2")) and figure["gate"] != "none":
                self.assertTrue(figure["pass"], name)
        self.assertLess(figures["lengths.self.seqpoint.v100"]["simulated"], 1)
        self.assertEqual(figures["lengths.self.seqpoint.v100"]["rows"], 1999)  # the first is warm-up
        # 2.4 and 1.5 ms a token, for 256 and 384 sentences: 2.4 times faster by sentence, up to rounding.
        self.assertAlmostEqual(figures["lengths.speedup.seqpoint"]["beside"]["speedup [times]"], 2.4, delta=0.03)

    def test_steps_of_our_own_spread_as_recorded_kernels_do(self):
        content = trace("AMD Instinct MI210", 104, 68702699520)
        kernels = [event for event in content["traceEvents"] if event.get("cat") == "kernel"]
        for i in range(1, 13):
            content["traceEvents"] += [{**event, "ts": event["ts"] + 1000 * i, "dur": event["dur"] * (1 + 0.1 * (i % 3))}
                                       for event in kernels]
        (self.folder / "traces/tracelens/mi210_gpu_only.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))
        done = c3sim("reproduce", "sampling", "--data", self.folder)
        lines = [line for line in done.stdout.splitlines() if line.startswith(("LLaMA 3 8B, 8 H100", "Deviation over mean"))]
        self.assertEqual(len(lines), 3, done.stdout + done.stderr)
        # 1, 1.1 and 1.2 times, five, four and four calls: 0.083 / 1.092.
        self.assertRegex(lines[2], r" gemm 0\.07[0-9] ")

    def test_logs_that_are_not_there_are_named(self):
        (self.folder / "sampling/gnmt_dgxa100.csv").unlink()
        self.assert_one_line(c3sim("reproduce", "sampling", "--data", self.folder), 74, r"sampling/gnmt_dgxa100\.csv \(")


if __name__ == "__main__":
    unittest.main()
