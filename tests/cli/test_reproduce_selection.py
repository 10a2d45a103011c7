"""c3sim reproduce selection on small tables of no real library: what is learned from enough layers, and what is not from few."""

import json
import unittest

from command import ScratchTest, c3sim

HEADER = ("direction,dtype,layout,N,C,H,W,K,P,Q,R,S,pad_h,pad_w,stride_h,stride_w,dilation_h,dilation_w,groups,solver,algorithm,ms,"
          "workspace_bytes\n")


def row(layer, batch, solver, milliseconds):
    return f"F,FP16,NCHW,{batch},{16 * layer},28,28,64,28,28,3,3,1,1,1,1,1,1,1,{solver},{milliseconds},0\n"


def find_db(layers):
    """Kernel A is best up to 30 channels' worth of layers, B beyond: a rule of one size. Each layer has two batches."""
    rows = []
    for layer in range(1, layers + 1):
        for batch in (16, 32):
            better, worse = ("A", "B") if layer <= layers // 2 else ("B", "A")
            rows += [row(layer, batch, f"{better},FwdAlgoImplicitGEMM", 0.1), row(layer, batch, f"{worse},FwdAlgoImplicitGEMM", 0.2)]
    return HEADER + "".join(rows)


class ReproduceSelection(ScratchTest):
    def reproduce(self, table):
        folder = self.folder / "kernels"
        folder.mkdir(exist_ok=True)
        for gpu in ("mi100", "mi210"):
            (folder / f"miopen_convolution_{gpu}.csv").write_text(table)
        done = c3sim("reproduce", "selection", "--data", self.folder, "--json")
        return done, {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}

    def test_a_rule_of_one_size_is_learned_for_layers_left_out(self):
        done, figures = self.reproduce(find_db(layers=60))
        learned = figures["choice.mi100.learned"]
        self.assertEqual(learned["rows"], 120)
        self.assertGreater(learned["simulated"], 90)
        self.assertEqual(learned["kind"], "fitted")
        # Both are best as often, so that one of them is as good as a coin; all else is alike to roofline and model.
        self.assertLess(figures["choice.mi100.majority"]["simulated"], 60)
        self.assertGreater(figures["choice.mi210.neighbours"]["simulated"], 90)
        # Wrong ones take twice as long: what is lost is the share of wrong ones.
        self.assertAlmostEqual(learned["beside"]["lost [%]"], 100 - learned["simulated"], places=6)
        self.assertEqual(figures["open.mi100"]["simulated"], learned["simulated"])  # both kernels are listed
        self.assertIsNone(figures["part.mi100.fp32.data"]["simulated"])
        self.assertIn(done.returncode, (0, 1))

    def test_few_layers_are_not_learned_from(self):
        done, figures = self.reproduce(find_db(layers=8))
        self.assertIsNone(figures["choice.mi100.learned"]["simulated"])
        self.assertEqual(done.returncode, 1)

    def test_tables_that_are_not_there_are_named(self):
        self.assert_one_line(c3sim("reproduce", "selection", "--data", self.folder), 74, r"kernels/miopen_convolution_mi100\.csv \(")


if __name__ == "__main__":
    unittest.main()
