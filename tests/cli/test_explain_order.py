"""c3sim explain: where one lever alone drives a part of the waterfall, the larger part has the lever of larger elasticity.

A part that is all of a rate's doing has the elasticity of its share of the time. Steps run without a power limit: at one,
faster arithmetic lowers the clock, and arithmetic no longer drives its part alone. Of the pair of streams, whose collective
is exposed because its kernel interferes, the part of the links is its exposed bandwidth; the waterfall puts it to interference.
A pipeline's bubble grows with kernels and not with gradients, so only alike levers are compared there.
"""

import itertools
import json
import unittest

from command import MAIN_JOB, c3sim
from test_explain import QUICK, STEPS

ARITHMETIC, HBM, LINKS, NICS = "arithmetic of GPUs", "HBM bandwidth", "links of the node", "NICs and fabric"
PRODUCTS = ("gemm:", "attention:", "work beyond the model's")
STREAMED = ("elementwise", "embedding", "softmax", "norm", "optimizer")
DATA, TENSOR = "communication: data parallel", "communication: tensor parallel"
UNLIMITED = 'gpu.power_limit="7 kW"'
FSDP, NODES, PIPELINE = STEPS
# Of each job: keys, and pairs of lever and beginnings of its parts' names, by sets of levers that are alike.
JOBS = ((*FSDP, [{ARITHMETIC: PRODUCTS, HBM: STREAMED, LINKS: (DATA,)}]),
        (*NODES, [{ARITHMETIC: PRODUCTS, HBM: STREAMED, LINKS: (TENSOR,), NICS: (DATA,)}]),
        (*PIPELINE, [{ARITHMETIC: PRODUCTS, HBM: STREAMED}, {LINKS: (TENSOR,), NICS: (DATA,)}]))


class ExplainOrder(unittest.TestCase):
    def explained(self, file, *arguments):
        done = c3sim("-q", "explain", file, "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        return found, {lever["name"]: -lever["elasticity"] for lever in found["levers"]}

    def assert_same_order(self, found, elasticities, times):
        """Of all pairs whose parts differ by more than parts depend on the order of causes. Returns how many there are."""
        compared = 0
        for one, other in itertools.combinations(times, 2):
            if abs(times[one] - times[other]) <= found["interaction_us"]:
                continue
            compared += 1
            larger, smaller = (one, other) if times[one] > times[other] else (other, one)
            self.assertGreater(elasticities[larger], elasticities[smaller], f"{larger}: {times[larger]:.0f} us, {smaller}: {times[smaller]:.0f} us")
        return compared

    def test_parts_of_steps_have_the_order_of_the_elasticities_of_their_levers(self):
        for file, keys, groups in JOBS:
            found, elasticities = self.explained(file, *(word for key in [*QUICK, *keys, UNLIMITED] for word in ("--set", key)))
            for levers in groups:
                with self.subTest(file=file.name, levers=list(levers)):
                    times = {lever: sum(part["time_us"] for part in found["parts"] if part["name"].startswith(names)) for lever, names in levers.items()}
                    if ARITHMETIC in times:
                        times[ARITHMETIC] += found["at_peak_us"]
                    self.assertGreater(self.assert_same_order(found, elasticities, times), 0)

    def test_exposed_bandwidth_and_products_of_a_pair_have_the_order_of_links_and_arithmetic(self):
        found, elasticities = self.explained(MAIN_JOB, "--strategy", "concurrent", *(word for key in QUICK for word in ("--set", key)))
        products = found["at_peak_us"] + sum(part["time_us"] for part in found["parts"] if part["name"].startswith(PRODUCTS))
        times = {ARITHMETIC: products, LINKS: sum(its["bandwidth_us"] for its in found["communication"]), HBM: 0.0}
        self.assertEqual(self.assert_same_order(found, elasticities, times), 3)


if __name__ == "__main__":
    unittest.main()
