"""c3sim reproduce convolutions on small find-dbs of no real GPU: what is fitted to enough layers, and what is not to few."""

import json
import unittest

from command import ScratchTest, c3sim

HEADER = ("direction,dtype,layout,N,C,H,W,K,P,Q,R,S,pad_h,pad_w,stride_h,stride_w,dilation_h,dilation_w,groups,solver,algorithm,ms,"
          "workspace_bytes\n")


def row(channels, solver, milliseconds):
    return f"F,FP16,NCHW,32,{channels},28,28,64,28,28,3,3,1,1,1,1,1,1,1,{solver},{milliseconds},0\n"


class ReproduceConvolutions(ScratchTest):
    def reproduce(self, layers):
        folder = self.folder / "kernels"
        folder.mkdir()
        rows = "".join(row(16 * n, "A,FwdAlgoImplicitGEMM", 0.02 + 0.004 * n) + row(16 * n, "B,FwdAlgoWinograd", 0.03 + 0.006 * n)
                       for n in range(1, layers + 1))
        for gpu in ("mi100", "mi210"):
            (folder / f"miopen_convolution_{gpu}.csv").write_text(HEADER + rows)
        done = c3sim("reproduce", "convolutions", "--data", self.folder, "--json")
        return done, {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}

    def test_layers_are_predicted_by_fits_to_others(self):
        done, figures = self.reproduce(layers=24)
        best = figures["fitted.best.mi100.fp16"]
        self.assertEqual(best["rows"], 24)
        self.assertGreater(best["simulated"], 0)
        self.assertEqual(figures["fitted.solver.mi210.fp16.winograd"]["rows"], 24)
        self.assertEqual(figures["fitted.choice.mi100.fp16"]["rows"], 24)
        self.assertIsNone(figures["fitted.best.mi100.fp32"]["simulated"])  # no rows, and so no number
        self.assertGreater(figures["coefficient.mi100.kernel_us"]["simulated"], 0)
        self.assertEqual(done.returncode, 1)

    def test_few_layers_are_not_fitted(self):
        done, figures = self.reproduce(layers=3)
        self.assertIsNone(figures["fitted.best.mi100.fp16"]["simulated"])
        self.assertEqual(done.returncode, 1)

    def test_tables_that_are_not_there_are_named(self):
        self.assert_one_line(c3sim("reproduce", "convolutions", "--data", self.folder), 74, r"kernels/miopen_convolution_mi210\.csv \(")


if __name__ == "__main__":
    unittest.main()
