"""Collectives of many GPUs: every chunk of a ring fast enough, the same as a gang for next to nothing, and what joins
100,000 GPUs built in seconds. Times are compared with each other or held with room for slow and busy machines; the
figures to reach on a quiet one are printed beside them."""

import json
import os
import subprocess
import unittest

from machine_speed import cpu_budget

MB = 1e6


def bench(*cases):
    arguments = [argument for case in cases for argument in ("--case", case)]
    done = subprocess.run(
        [os.environ["C3SIM"], "bench", "-q", "--json", "--repeat", "3", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return {case["name"]: case for case in json.loads(done.stdout)["cases"]}


class ScaleSpeed(unittest.TestCase):
    def test_a_ring_of_512_chunk_by_chunk_and_as_a_gang(self):
        cases = bench("allreduce-512", "ring-512")
        ring, other = cases["allreduce-512"], cases["ring-512"]
        gang = ring["gang"]
        print(
            f"{ring['events_per_s'] / 1e6:.2f} M sends/s (to reach: 1.8), {ring['peak_rss_bytes'] / MB:.0f} MB (60); "
            f"gang {100 * gang['time_error']:+.2f} % (1 %), 1/{1 / gang['ratio_cpu']:.0f} of the CPU time (1/100)"
        )
        self.assertEqual(ring["events"], 2 * 511 * 512 * 4 + 1)  # the sums that every rank stores are one flow
        # A send takes 17 resources, an operation of ring-512 four; but three of four sends cost no solve.
        self.assertGreater(ring["events_per_s"], 0.5 * other["events_per_s"])
        self.assertGreater(ring["ratio_limit"], 0.6)
        self.assertLess(ring["peak_rss_bytes"], 60 * MB)
        self.assertLess(abs(gang["time_error"]), 0.01)
        self.assertLess(gang["ratio_cpu"], 1 / 40)

    def test_16384_gpus_and_the_links_of_100000(self):
        cases = bench("hierarchy-16384", "platform-100000")
        hierarchy, platform = cases["hierarchy-16384"], cases["platform-100000"]
        print(
            f"hierarchical all-reduce over 16,384 GPUs: {hierarchy['cpu_s']:.2f} s (to reach: 2); "
            f"interconnect of 100,000: {platform['cpu_s']:.2f} s (5), {platform['peak_rss_bytes'] / MB:.0f} MB (1,000)"
        )
        self.assertGreater(hierarchy["simulated_us"], 0)
        self.assertLess(hierarchy["cpu_s"], cpu_budget(8))
        self.assertLess(platform["cpu_s"], cpu_budget(20))
        self.assertLess(platform["peak_rss_bytes"], 1000 * MB)


if __name__ == "__main__":
    unittest.main()
