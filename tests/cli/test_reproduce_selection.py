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


TILES = "gfx,gpu,dtype,layout,m,n,batch,k,tile_m,tile_n,depth_k,split_k,matrix_instruction\n"


def tile_table(sizes):
    """128 x 64 with matrix units for 10,000 columns and more, else 16 x 32 with vector units; rows of two transposed operands beside."""
    rows = []
    for size in range(1, sizes + 1):
        m = 100 * size if size <= sizes // 2 else 10_000 + 100 * size
        kernel = "16,32,8,1," if m < 10_000 else "128,64,16,4,32x32x2x1"
        for layout in ("TN", "NN", "TT"):
            rows.append(f'gfx90a,"MI210, 104 CUs",fp32,{layout},{m},512,1,256,{kernel}\n')
    return TILES + "".join(rows)


class ReproduceSelection(ScratchTest):
    def reproduce(self, table, tiles=TILES):
        folder = self.folder / "kernels"
        folder.mkdir(exist_ok=True)
        for gpu in ("mi100", "mi210"):
            (folder / f"miopen_convolution_{gpu}.csv").write_text(table)
        (folder / "rocblas_tile_choice.csv").write_text(tiles)
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

    def test_a_sequence_of_tokens_is_learned_for_sizes_left_out(self):
        done, figures = self.reproduce(HEADER, tile_table(sizes=18 * 2))
        learned = figures["tiles.mi200.learned.first"]
        self.assertEqual(learned["rows"], 72)
        self.assertGreater(learned["simulated"], 90)
        self.assertEqual(learned["beside"]["tile right [%]"], learned["simulated"])
        # There are two kernels, so that both are among the first three; each is taken as often.
        self.assertEqual(figures["tiles.mi200.learned.three"]["simulated"], 100)
        self.assertEqual(figures["tiles.mi200.majority.three"]["simulated"], 100)
        self.assertLess(figures["tiles.mi200.majority.first"]["simulated"], 60)
        self.assertIsNone(figures["tiles.mi100.learned.first"]["simulated"])  # no rows
        self.assertIn("36 products of two transposed operands were left out", done.stderr)

    def test_a_row_that_says_nothing_sensible_is_reported(self):
        done, _ = self.reproduce(HEADER, TILES + "gfx908,MI100,fp32,NX,1,1,1,1,16,16,8,1,\n")
        self.assertEqual(done.returncode, 5)
        self.assertRegex(done.stderr, r"rocblas_tile_choice\.csv:2:19: layout: unknown layout 'NX'; did you mean 'NN'\? known: TN, NN, NT, TT")

    def test_weights_are_written_and_equal_runs_write_equal_ones(self):
        texts = []
        for name in ("a", "b"):
            self.reproduce(find_db(layers=30), tile_table(sizes=24))
            c3sim("reproduce", "selection", "--data", self.folder, "--weights", self.folder / "new" / name)
            texts.append([(self.folder / "new" / name / file).read_text() for file in ("miopen.csv", "rocblas.csv")])
        self.assertEqual(texts[0], texts[1])
        self.assertIn("\ncdna2.forward,valid,fp16 3x3,0 1\n", texts[0][0])
        self.assertIn("\ncdna2,step,tile_m,32 64\n", texts[0][1])
        self.assert_one_line(c3sim("reproduce", "goldyloc", "--weights", self.folder), 2, "--weights: the study 'goldyloc' trains nothing")

    def test_few_layers_are_not_learned_from(self):
        done, figures = self.reproduce(find_db(layers=8))
        self.assertIsNone(figures["choice.mi100.learned"]["simulated"])
        self.assertEqual(done.returncode, 1)

    def test_tables_that_are_not_there_are_named(self):
        self.assert_one_line(c3sim("reproduce", "selection", "--data", self.folder), 74, r"kernels/miopen_convolution_mi100\.csv \(.*kernels/rocblas_tile_choice\.csv \(")


if __name__ == "__main__":
    unittest.main()
