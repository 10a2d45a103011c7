"""c3sim collective prints what nccl-tests prints: sizes, counts and bandwidths by its definitions."""

import json
import math
import unittest

from command import ScratchTest, c3sim


def table(*arguments):
    done = c3sim("collective", *arguments, "--json")
    notes = [line for line in done.stderr.splitlines() if not line.startswith("note: the library's choice, not the best")]
    assert (done.returncode, notes) == (0, []), done.stderr
    return json.loads(done.stdout)


# Of algorithms that join several nodes.
SYSTEMS = {"nvls_tree": ("h100-sxm-8", "--nodes", "2"), "hierarchical": ("h100-sxm-8", "--nodes", "2"),
           "collnet": ("h100-sxm-8", "--nodes", "2", "--fabric", "ib-ndr-sharp"), "pat": ("gh200-1", "--nodes", "4")}
# Of those that need registered buffers.
SYSTEMS |= {f"symmetric{name}": ("h100-sxm-8", "--set", "library.registered_buffers=true") for name in ("", "_nvls", "_gather")}
SYSTEMS["symmetric_rails"] = ("h100-sxm-8", "--nodes", "2", "--set", "library.registered_buffers=true")


class Collective(ScratchTest):
    def test_rows_have_the_documented_fields_and_bandwidths_follow_from_size_and_time(self):
        found = table("all_reduce", "--system", "mi300x-8", "--min", "1 MiB", "--max", "1 GiB", "--factor", "4")
        self.assertEqual((found["schema_version"], found["system"], found["op"], found["ranks"]),
                         (1, "mi300x-8", "all_reduce", 8))
        self.assertEqual([row["bytes"] for row in found["rows"]], [2**20 * 4**i for i in range(6)])
        for row in found["rows"]:
            self.assertEqual(list(row), ["backend", "bytes", "count", "dtype", "algorithm", "protocol", "launch", "channels",
                                         "time_us", "algbw_gbps", "busbw_gbps", "bottleneck", "faster_choice"])
            self.assertEqual(row["count"], row["bytes"] / 4)
            self.assertAlmostEqual(row["algbw_gbps"], row["bytes"] / row["time_us"] / 1e3)
            self.assertAlmostEqual(row["busbw_gbps"], row["algbw_gbps"] * 2 * 7 / 8)

    def test_counts_are_of_one_rank_and_sizes_of_all_where_ranks_have_shards(self):
        for op in ("all_gather", "reduce_scatter", "all_to_all"):
            found = table(op, "--system", "mi300x-8", "--min", "1 B", "--max", "1 KiB", "--dtype", "bf16")
            self.assertEqual(found["rows"][0]["bytes"], 16)  # one element of two bytes for each of eight ranks
            for row in found["rows"]:
                self.assertEqual(row["count"], row["bytes"] / 16)
                self.assertAlmostEqual(row["busbw_gbps"], row["algbw_gbps"] * 7 / 8)

    def test_every_collective_runs_with_each_algorithm_and_backend_that_list_names(self):
        known = json.loads(c3sim("list", "collectives", "--json").stdout)["collectives"]
        self.assertEqual(len(known), 11)
        for entry in known:
            if entry["name"] == "all_to_all_v":
                continue
            for algorithm in entry["algorithms"].split(", "):
                with self.subTest(op=entry["name"], algorithm=algorithm):
                    system = SYSTEMS.get(algorithm, ("h100-sxm-8",))
                    found = table(entry["name"], "--system", *system, "--algo", algorithm, "--min", "64 MiB",
                                  "--max", "64 MiB")
                    self.assertEqual([row["algorithm"] for row in found["rows"]], [algorithm])
            for backend in entry["backends"].split(", "):
                with self.subTest(op=entry["name"], backend=backend):
                    found = table(entry["name"], "--system", "mi300x-8", "--backend", backend, "--min", "64 MiB",
                                  "--max", "64 MiB")
                    self.assertEqual([row["backend"] for row in found["rows"]], [backend])

    def test_the_switch_is_the_default_where_it_reduces_and_beats_the_ring(self):
        auto, ring = (table("all_reduce", "--system", "h100-sxm-8", "--algo", algorithm, "--min", "1 GiB", "--max",
                            "1 GiB")["rows"][0] for algorithm in ("auto", "ring"))
        self.assertEqual((auto["algorithm"], ring["algorithm"]), ("nvls", "ring"))
        self.assertLess(auto["time_us"], ring["time_us"])

    def test_variables_of_the_library_act_as_the_options_that_say_the_same(self):
        base = ("all_reduce", "--system", "h100-sxm-8", "--min", "64 MiB", "--max", "1 GiB", "--factor", "4")

        def rows(*more):
            return table(*base, *more)["rows"]

        self.assertEqual(rows("--env", "NCCL_ALGO=Tree", "--env", "NCCL_PROTO=LL128"), rows("--algo", "tree", "--proto", "ll128"))
        self.assertEqual({row["algorithm"] for row in rows("--env", "NCCL_NVLS_ENABLE=0")}, {"ring"})
        fewer = rows("--env", "NCCL_ALGO=^NVLS,NVLSTree", "--env", "NCCL_MAX_CTAS=8")
        self.assertEqual({row["channels"] for row in fewer}, {8})
        self.assertEqual(table(*base, "--env", "NCCL_MAX_CTAS=8")["env"], {"NCCL_MAX_CTAS": "8"})
        for wrong, why in ((("--env", "NCCL_ALGO"), "expected NAME=VALUE"),
                           (("--env", "NCCL_ALGO=Ring", "--env", "NCCL_ALGO=Tree"), "NCCL_ALGO is given twice"),
                           (("--env", "NCCL_PROTO=LL", "--proto", "ll"), "NCCL_PROTO says the same as --proto"),
                           (("--env", "NCCL_ALGOS=Ring"), "did you mean 'NCCL_ALGO'?"),
                           (("--env", "NCCL_MAX_CTAS=8", "--set", "library.max_channels=8"), "leave one of them out")):
            with self.subTest(wrong=wrong):
                done = c3sim("collective", *base, *wrong)
                self.assertIn(done.returncode, (2, 3))
                self.assertIn(why, done.stderr)
        self.assertIn("NCCL_DEBUG changes nothing here", c3sim("collective", *base, "--env", "NCCL_DEBUG=INFO").stderr)
        done = c3sim("collective", *base, "--algo", "ring", "--env", "NCCL_NVLS_ENABLE=0", "--set", "library.algorithms=tree")
        self.assertEqual(done.returncode, 4)
        self.assertIn("excludes it for all_reduce", done.stderr)

    def test_in_place_an_all_gather_copies_no_own_shard(self):
        base = ("--system", "h100-sxm-8", "--ranks", "0,1", "--proto", "simple", "--min", "1 GiB", "--max", "1 GiB")
        for op, differs in (("all_gather", True), ("all_reduce", False)):
            there, here = (table(op, *base, *flag)["rows"][0]["time_us"] for flag in ((), ("--in-place",)))
            self.assertEqual(here < there, differs, op)

    def test_the_limit_is_latency_at_small_sizes_and_a_link_at_large_ones(self):
        rows = table("all_gather", "--system", "mi300x-8")["rows"]
        self.assertEqual(rows[0]["bottleneck"], "latency")
        self.assertIn("link", rows[-1]["bottleneck"])
        few = table("all_gather", "--system", "mi300x-8", "--set", "library.channels=7", "--min", "1 GiB", "--max",
                    "1 GiB")["rows"][0]
        self.assertEqual((few["channels"], few["bottleneck"]), (7, "channels"))
        slow = table("all_gather", "--system", "mi300x-8", "--set", 'gpu.hbm_peak="300 GB/s"', "--set",
                     'gpu.hbm_read="300 GB/s"', "--set", 'gpu.hbm_write="300 GB/s"', "--set",
                     'gpu.hbm_copy="300 GB/s"', "--min", "1 GiB", "--max", "1 GiB")["rows"][0]
        self.assertEqual(slow["bottleneck"], "gpu0.hbm")

    def test_pairs_have_channels_of_their_own_where_the_library_says_so(self):
        size = ("--min", "64 MiB", "--max", "64 MiB")
        channels = [table(op, "--system", "h100-sxm-8", *size)["rows"][0]["channels"]
                    for op in ("all_to_all", "all_gather", "all_reduce")]
        self.assertEqual(channels, [32, 24, 16])  # pairs, rings, switch

    def test_copy_engines_take_each_variant_prelaunched_or_not_with_fewer_engines_and_less_time(self):
        size = ("--system", "mi300x-8", "--backend", "dma", "--min", "1 KiB", "--max", "1 KiB")
        variants = ("--dma-variant", "pcpy,bcst,b2b")
        now = table("all_gather", *size, *variants)["rows"]
        ahead = table("all_gather", *size, *variants, "--prelaunch", "--dma-host", "node")["rows"]
        self.assertEqual([(row["dma_variant"], row["prelaunch"], row["dma_host"], row["channels"]) for row in now],
                         [("pcpy", False, "gpu", 7), ("bcst", False, "gpu", 4), ("b2b", False, "gpu", 1)])
        self.assertEqual([(row["dma_variant"], row["prelaunch"], row["dma_host"]) for row in ahead],
                         [(variant, True, "node") for variant in ("pcpy", "bcst", "b2b")])
        times = [row["time_us"] for row in ahead]
        self.assertEqual(times, sorted(times, reverse=True))
        lines = c3sim("collective", "all_to_all", *size, "--dma-variant", "swap", "--prelaunch", "-q").stdout
        self.assertRegex(lines, r"(?m)^dma .* swap\+pl ")

    def test_a_group_and_a_root_are_taken(self):
        found = table("broadcast", "--system", "mi300x-8", "--ranks", "1-3,6", "--root", "6", "--max", "1 MiB")
        self.assertEqual(found["ranks"], 4)

    def test_a_choice_that_another_method_would_beat_by_a_tenth_is_named_with_the_time_of_the_better_one(self):
        size = ("--min", "256 MiB", "--max", "256 MiB")
        gather = ("all_gather", "--system", "gb200-nvl72", *size)
        found = {factor: table(*gather, "--set", f"node.link_scale={factor}")["rows"][0] for factor in (1, 2, 3, 4)}
        self.assertEqual([row["protocol"] for row in found.values()], ["ll128", "ll128", "ll128", "simple"])
        self.assertEqual([found[factor]["faster_choice"] for factor in (1, 2, 3)], [None] * 3)
        better = found[4]["faster_choice"]
        self.assertEqual((better["algorithm"], better["protocol"], better["bottleneck"]), ("ring", "ll128", "channels"))
        self.assertAlmostEqual(better["time_us"], found[3]["time_us"], delta=1)
        self.assertAlmostEqual(better["less_percent"], 100 * (1 - better["time_us"] / found[4]["time_us"]))
        self.assertRegex(c3sim("collective", *gather, "--set", "node.link_scale=4").stderr,
                         r"^note: the library's choice, not the best, at 1 of 1 sizes; at 268\.435 MB NCCL 2\.30\.7 takes ring simple "
                         r"\(\d+\.\d us, limit latency\); ring ll128 would take 46 % less \(\d+\.\d us, limit channels\)\n$")
        self.assertEqual(c3sim("collective", *gather, "--set", "node.link_scale=4", "--algo", "ring", "--proto", "simple").stderr, "")

    def test_a_release_of_the_library_decides_what_it_chooses(self):
        def chosen(release):
            return table("all_reduce", "--system", "h100-sxm-8", "--nodes", "4", "--set", f'library.version="{release}"',
                         "--min", "4 MiB", "--max", "4 MiB")["rows"][0]["algorithm"]
        self.assertEqual((chosen("2.26.2"), chosen("2.30")), ("nvls_tree", "tree"))
        for system, release, reason in (("h100-sxm-8", "2.9", "must be 2.18 to 2.30"), ("h100-sxm-8", "new", "is not a release"),
                                        ("mi300x-8", "2.30", "must be 2.21 to 2.28")):
            done = c3sim("collective", "all_reduce", "--system", system, "--set", f'library.version="{release}"')
            self.assertEqual(done.returncode, 3)
            self.assertIn("library.version: ", done.stderr)
            self.assertIn(reason, done.stderr)

    def test_no_size_is_too_large(self):
        row = table("broadcast", "--system", "mi300x-8", "--min", "1e18 B", "--max", "1e18 B")["rows"][0]
        self.assertAlmostEqual(row["busbw_gbps"] / 300, 1, delta=0.1)

    def test_two_ranks_add_along_the_ring_where_eight_use_the_switch(self):
        row = table("all_reduce", "--system", "h100-sxm-8", "--ranks", "0,1", "--min", "1 GiB", "--max", "1 GiB")["rows"][0]
        self.assertEqual(row["algorithm"], "ring")

    def test_the_table_shows_the_same_numbers_and_ends_with_their_mean(self):
        arguments = ("all_reduce", "--system", "h100-sxm-8", "--min", "1 MiB", "--max", "64 MiB")
        rows = table(*arguments)["rows"]
        lines = c3sim("collective", *arguments, "-q").stdout.splitlines()
        shown = [line.split() for line in lines if line.startswith("cu ")]
        self.assertEqual(len(shown), len(rows))
        for cells, row in zip(shown, rows):
            self.assertEqual(cells[1:5], [f"{row['bytes']:.0f}", f"{row['count']:.0f}", "fp32", "sum"])
            self.assertEqual(cells[-4:-1], [f"{row['time_us']:.2f}", f"{row['algbw_gbps']:.2f}",
                                            f"{row['busbw_gbps']:.2f}"])
        average = math.fsum(row["busbw_gbps"] for row in rows) / len(rows)
        self.assertIn(f"average busbw: {average:.2f} GB/s", lines)

    def test_what_cannot_run_is_refused_with_the_reason(self):
        for arguments, code, message in (
            (("all_reduce", "--system", "mi300x-8", "--backend", "dma"), 4, "copy engines cannot add"),
            (("all_gather", "--system", "mi300x-8", "--backend", "dma", "--dma-variant", "swap"), 4,
             "copy-engine variant swap does not support all_gather"),
            (("all_to_all", "--system", "mi300x-8", "--backend", "dma", "--dma-variant", "bcst"), 4,
             "copy-engine variant bcst does not support all_to_all"),
            (("all_gather", "--system", "mi300x-8", "--backend", "dma", "--dma-variant", "b2b", "--algo", "ring"), 4,
             "requires the direct algorithm"),
            (("all_gather", "--system", "h100-sxm-8", "--backend", "dma", "--dma-variant", "bcst", "--algo", "direct"), 4,
             "have no bcst command"),
            (("all_gather", "--system", "mi300x-8", "--prelaunch"), 2, "require --backend dma"),
            (("all_gather", "--system", "mi300x-8", "--backend", "dma", "--dma-variant", "b2c"), 2, "did you mean 'b2b'"),
            (("all_gather", "--system", "mi300x-8", "--backend", "dma", "--dma-host", "rack"), 2, "unknown host 'rack'"),
            (("all_reduce", "--system", "mi300x-8", "--algo", "nvls"), 4, "nvls needs a switch that reduces"),
            (("all_gather", "--system", "mi300x-8", "--algo", "tree"), 4, "the tree algorithm does not support it"),
            (("all_reduce", "--system", "mi300x-8", "--ranks", "0-3,2"), 4, "rank 2 is in the group twice"),
            (("all_reduce", "--system", "mi300x-8", "--ranks", "0,8"), 4, "there is no rank 8 of 8"),
            (("broadcast", "--system", "mi300x-8", "--ranks", "1,2"), 4, "root 0 is not in the group"),
            (("all_reduce", "--system", "mi300x-8", "--root", "3"), 2, "--root: all_reduce has no root; broadcast, reduce, gather and scatter have one"),
            (("all_reduce", "--system", "mi300x-8", "--channels", "4", "--min-channels", "5"), 2, "must not be above"),
            (("all_gather", "--system", "mi300x-8", "--backend", "dma", "--proto", "ll"), 2, "require --backend cu"),
            (("all_reduce", "--system", "h100-sxm-8", "--nodes", "131072", "--algo", "ring"), 4, "limited to 200000 ranks"),
            (("all_reduce", "--system", "mi300x-8", "--ranks", "a-b"), 2, "'a' is no rank"),
            (("all_reduce", "--system", "mi300x-8", "--ranks", "5-3"), 2, "no range '5-3'"),
            (("all_reduce", "--system", "mi300x-8", "--ranks", "0,"), 2, "'' is no rank"),
            (("all_reduce", "--system", "mi300x-8", "--factor", "nan"), 2, "--factor"),
            (("broadcast", "--system", "mi300x-8", "--backend", "dma", "--algo", "ring", "--grain", "step", "--min", "8 TiB",
              "--max", "8 TiB"), 4, "use edge or gang"),
            (("all_reduce", "--system", "mi300x-8", "--backend", "sdma"), 2, "unknown backend 'sdma'"),
            (("all_reduce", "--system", "mi300x-8", "--algo", "rings"), 2, "did you mean 'ring'"),
            (("all_reduce", "--system", "mi300x-8", "--min", "2 GiB", "--max", "1 GiB"), 2, "--min"),
            (("all_reduce", "--system", "mi300x-8", "--min", "2 GB/s"), 2, "--min"),
            (("all_reduce", "--system", "mi300x-8", "--max", "2 B", "--min", "1 B"), 2, "no size holds an element"),
            (("all_reduce", "--system", "mi300-8"), 3, "did you mean 'mi300x-8'"),
            (("all_reduce", "--system", "mi300x-8", "--set", "library.chanels=3"), 3, "did you mean 'channels'"),
            (("all_reduced", "--system", "mi300x-8"), 2, "all_reduced"),
        ):
            with self.subTest(arguments=arguments):
                done = c3sim("collective", *arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.assertIn(message, done.stderr)

    def test_ranks_that_never_come_are_named(self):
        (self.folder / "late.toml").write_text(
            'schema = 1\nsystem = "mi300x-8"\n[[stream]]\nname = "comm"\n'
            'run = [{ all_reduce = { size = "1 MiB", ranks = [1, 4, 6], on = [1, 4] } }]\n[strategy.now]\n')
        done = c3sim("run", "late.toml", folder=self.folder)
        self.assertEqual(done.returncode, 4)
        self.assertIn("stream 'comm' of rank 1 waits for rank 6 to join all_reduce 1 MiB on ranks 1,4,6", done.stderr)
        self.assertEqual(list((self.folder / "out").glob("*.h5")), [])

    def test_a_group_with_a_mistake_is_a_configuration_error_at_its_place(self):
        for ranks, message in (("[0, 0]", "rank 0 is in the group twice"), ("[0, 8]", "there is no rank 8 of 8"),
                               ("[3]", "at least two ranks"), ("[0, 1], on = [1, 9]", "there is no rank 9 of 8"),
                               ("[1, 2], on = [5]", "'on' names no rank of the group")):
            (self.folder / "group.toml").write_text(
                'schema = 1\nsystem = "mi300x-8"\n[[stream]]\nname = "comm"\n'
                f'run = [{{ all_reduce = {{ size = "1 MiB", ranks = {ranks} }} }}]\n[strategy.now]\n')
            done = c3sim("config", "check", "group.toml", folder=self.folder)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, r"group.toml:5:8: stream.comm.run\[0\]: .*" + message)


if __name__ == "__main__":
    unittest.main()
