"""Kernels tuned for what other streams leave of the GPU: STREAM.kernel_selection of a strategy."""

import json
import unittest

from command import SOURCE, ScratchTest, c3sim

EXPERIMENT = SOURCE / "configs/experiments/kernels_for_a_share.toml"


def kernels(done):
    return {row["strategy"]: row["kernel"]["together_us"] for row in json.loads(done.stdout)["strategies"]}


class KernelShare(ScratchTest):
    def run_with(self, *options):
        sets = [part for option in ("measure.seeds=1", *options) for part in ("--set", option)]
        return c3sim("run", EXPERIMENT, "-o", self.folder / "share.h5", "--json", *sets)

    def test_a_product_of_one_wave_is_faster_by_a_kernel_for_the_248_cus_that_channels_leave(self):
        done = c3sim("run", EXPERIMENT, "-o", self.folder / "share.h5", "--set", "measure.seeds=1")
        self.assertIn("shared: kernels of 'gemm' tuned for 248 CUs\n", done.stdout)
        # 256 tiles of 256 x 256: one wave on 304 CUs.
        times = kernels(self.run_with('stream.0.run=[{ gemm = { m = 4096, n = 4096, k = 4096, dtype = "bf16" } }]'))
        self.assertLess(times["shared"], 0.8 * times["library"])

    def test_a_limit_of_channels_leaves_more_cus(self):
        done = self.run_with("strategy.shared.collective.channels=16")
        self.assertIn("kernels of 'gemm' tuned for 288 CUs", done.stdout)

    def test_kernels_beside_copy_engines_are_those_of_the_whole_gpu(self):
        engines = [f'strategy.{name}.collective.backend="dma"' for name in ("library", "shared")]
        times = kernels(self.run_with('stream.1.run=[{ all_gather = "1 GiB" }]', *engines))
        self.assertEqual(times["shared"], times["library"])

    def test_an_unknown_selection_is_refused_with_the_nearest_name(self):
        done = self.run_with('strategy.shared.gemm.kernel_selection="share"')
        self.assert_one_line(done, 3, r"kernel_selection: unknown name 'share'; did you mean 'shared'\?")


if __name__ == "__main__":
    unittest.main()
