"""How much a key moves a time: the elasticity d ln(time) / d ln(key), required of named keys.

Each row says why its bounds hold. -1: the time is the rate's alone. 0: the key has no part in it.
"""

import json
import math
import unittest

from command import c3sim

GEMM = ("-m", "8192", "-n", "8192", "-k", "8192", "--dtype", "bf16")
UNLIMITED = ("--set", 'gpu.power_limit="7 kW"')
TENSOR = ("--rows", "32768", "--cols", "32768", "--dtype", "bf16")
SMALL_TENSOR = ("--rows", "64", "--cols", "64", "--dtype", "bf16")
LARGE = ("--min", "1 GiB", "--max", "1 GiB")
SMALL = ("--min", "8 KiB", "--max", "8 KiB")
RING = ("--proto", "simple", "--algo", "ring")


def kernel(op, gpu, *words):
    return ("kernel", op, "--gpu", gpu, *words)


def collective(op, system, *words):
    return ("collective", op, "--system", system, *words)


NODES = ("--nodes", "2", "--fabric", "ib-ndr")

# key, base value (None: a factor of 1), what is timed, step, least and most elasticity, why
ROWS = (
    ("gpu.hbm_scale", None, kernel("copy", "mi300x", *TENSOR), 1.05, -1.001, -0.9, "a copy of 4 GiB streams"),
    ("gpu.hbm_scale", None, kernel("softmax", "h100-sxm", *TENSOR), 1.05, -1.001, -0.9, "rates that follow the peak"),
    ("gpu.hbm_scale", None, kernel("gemm", "mi300x", *GEMM), 1.05, -0.05, 0.001, "a large GEMM computes"),
    ("gpu.hbm_read", "4.73 TB/s", kernel("reduce", "mi300x", *TENSOR), 0.95, -1.001, -0.85, "a reduction reads"),
    ("gpu.hbm_latency", "391 ns", kernel("copy", "mi300x", *TENSOR), 1.05, 0.0, 0.05, "loads in flight hide it"),
    ("gpu.flops_scale", None, kernel("gemm", "mi300x", *GEMM), 1.05, -1.001, -0.9, "a large GEMM computes"),
    ("gpu.flops_scale", None, kernel("gemm", "h100-sxm", *GEMM, *UNLIMITED), 1.05, -1.001, -0.9,
     "rates that follow the peak"),
    ("gpu.flops_scale", None, kernel("gemm", "h100-sxm", *GEMM), 1.05, -0.75, -0.65,
     "at the power limit, 0.32 of nine tenths of the power goes: 1 - 0.29"),
    ("gpu.flops_scale", None, kernel("copy", "mi300x", *TENSOR), 1.05, -0.01, 0.001, "a copy computes nothing"),
    ("gpu.bf16_sustained", "708 TFLOP/s", kernel("gemm", "mi300x", *GEMM), 1.05, -1.001, -0.9, "its rate"),
    ("gpu.cus_per_xcd", "38", kernel("gemm", "mi300x", *GEMM), 2, -1.1, -0.8, "peaks follow; whole waves round"),
    ("gpu.cus_per_xcd", "132", kernel("copy", "h100-sxm", *TENSOR), 2, -0.1, 0.02, "memory is full with fewer"),
    ("gpu.boost_clock", "1.98 GHz", kernel("gemm", "h100-sxm", *GEMM, *UNLIMITED), 1.05, -1.001, -0.8, "peaks follow"),
    ("gpu.boost_clock", "1.7 GHz", kernel("gemm", "mi250x-gcd", *GEMM[:-1], "fp32"), 1.05, -1.001, -0.8, "peaks follow"),
    ("gpu.l2_size", "4 MiB", kernel("gemm", "mi300x", *GEMM), 2, -0.3, 0.02, "fewer misses, which are hidden"),
    ("gpu.l2_size", "4 MiB", kernel("copy", "mi300x", *TENSOR), 2, -0.01, 0.01, "nothing is used twice"),
    ("gpu.launch_latency", "1.75 us", kernel("relu", "mi300x", *SMALL_TENSOR, "--launch", "device"), 1.1, 0.3, 1.0,
     "a small kernel is mostly launch"),
    ("gpu.dma_engine_bandwidth", "48.349 GB/s", collective("all_gather", "mi300x-8", "--backend", "dma", *LARGE), 0.5,
     -1.001, -0.9, "one engine a peer; a little above what the link carries both ways"),
    ("gpu.dma_schedule", "2.6 us", collective("all_gather", "mi300x-8", "--backend", "dma", *SMALL), 1.1, 0.05, 0.6,
     "one of the phases of a small copy"),
    ("gpu.dma_sync", "2.95 us", collective("all_gather", "mi300x-8", "--backend", "dma", *SMALL), 1.1, 0.05, 0.6,
     "another phase"),
    ("gpu.llc_bandwidth", "17.2 TB/s", kernel("copy", "mi300x", *TENSOR), 1.1, -0.02, 0.001, "memory is slower"),
    ("gpu.xcd_port_bandwidth", "2.1504 TB/s", kernel("copy", "mi300x", *TENSOR), 1.1, -0.02, 0.001, "memory is slower"),
    ("node.link_latency", "0.7 us", collective("all_reduce", "h100-sxm-8", *RING, *LARGE), 1.1, -0.001, 0.02,
     "hidden by the pipeline"),
    ("library.channel_rate", "22.5 GB/s", collective("all_reduce", "h100-sxm-8", *RING, *LARGE, "--channels", "8"), 0.95,
     -1.001, -0.8, "8 channels do not fill the links"),
    ("library.eager_gap", "0.5 us", collective("all_reduce", "h100-sxm-8", *SMALL, "--launch", "eager"), 2, 0.0, 0.2,
     "beside some us of latency"),
    ("library.host_launch", "4.5 us", collective("all_reduce", "h100-sxm-8", *SMALL, "--launch", "one_process"), 1.1, 0.9,
     1.001, "one host launches on eight GPUs in turn"),
    ("node.link_scale", None, collective("all_reduce", "h100-sxm-8", *RING, *LARGE), 1.02, -1.001, -0.9,
     "a ring's links are full"),
    ("node.link_scale", None, collective("all_gather", "mi300x-8", *LARGE), 0.95, -1.001, -0.9, "a mesh's links are full"),
    ("node.link_scale", None, collective("all_reduce", "h100-sxm-8", *SMALL), 1.05, -0.1, 0.001, "8 KiB are latency"),
    ("library.link_payload", "370 GB/s", collective("all_reduce", "h100-sxm-8", *RING, *LARGE), 0.95, -1.001, -0.9,
     "what the protocol leaves of the links"),
    ("library.ll.hop_latency", "0.83 us", collective("all_reduce", "h100-sxm-8", "--proto", "ll", "--algo", "ring", *SMALL),
     1.1, 0.3, 1.0, "14 hops"),
    ("library.ll.base_latency", "3.5 us", collective("all_reduce", "h100-sxm-8", "--proto", "ll", "--algo", "ring", *SMALL),
     1.1, 0.05, 0.6, "once"),
    ("fabric.scale", None, collective("all_reduce", "h100-sxm-8", "--nodes", "2", "--fabric", "ib-hdr", *RING, *LARGE), 0.95,
     -1.001, -0.85, "the NICs are full"),
    ("fabric.message_latency", "1 us", collective("all_reduce", "h100-sxm-8", *NODES, *SMALL), 1.5, -0.001, 0.5,
     "a part of a network step"),
    ("fabric.scale", None, collective("all_reduce", "h100-sxm-8", *NODES, *SMALL), 1.05, -0.1, 0.001, "latency"),
)


def scaled(value, factor):
    number, _, unit = value.partition(" ")
    if "." not in number and not unit:
        return str(int(int(number) * factor))
    return f'"{float(number) * factor:.9g} {unit}"'


class Elasticity(unittest.TestCase):
    def time(self, command, *sets):
        words = [word for each in sets for word in ("--set", each)]
        done = c3sim(*command, *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"][0]["time_us"]

    def elasticity(self, key, value, command, factor):
        before = self.time(command)
        after = self.time(command, f"{key}={scaled(value, factor) if value else factor}")
        return math.log(after / before) / math.log(factor)

    def test_named_keys_move_times_as_much_as_they_must(self):
        for key, value, command, factor, least, most, why in ROWS:
            with self.subTest(key=key, command=" ".join(command), why=why):
                found = self.elasticity(key, value, command, factor)
                self.assertTrue(least <= found <= most, f"{found:.3f} is not in {least} .. {most}")


if __name__ == "__main__":
    unittest.main()
