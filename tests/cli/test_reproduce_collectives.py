"""c3sim reproduce collectives: tables of a folder on the systems that a map names."""

import csv
import json
import unittest

from command import ScratchTest, c3sim

HEADER = "size_bytes,count,dtype,oop_time_us,ip_time_us\n"


def simulated(op, system, smallest, largest):
    """Times of c3sim collective by size [us]."""
    done = c3sim("collective", op, "--system", system, "--min", smallest, "--max", largest, "--launch", "eager",
                  "--json", "-q")
    return {int(row["bytes"]): row["time_us"] for row in json.loads(done.stdout)["rows"]}


def table(op, times):
    rows = [f"{size},{size // 4},float,{time!r},{3 * time!r}\n" for size, time in times.items()]
    return f"# collective: {op}\n" + HEADER + "".join(rows)


class ReproduceCollectives(ScratchTest):
    def reproduce(self, systems, *options):
        (self.folder / "map.csv").write_text(systems)
        tables = self.folder / "tables"
        return c3sim("reproduce", "collectives", "--data", tables, "--systems", self.folder / "map.csv", *options)

    def write(self, **texts):
        (self.folder / "tables").mkdir(exist_ok=True)
        for name, text in texts.items():
            (self.folder / "tables" / f"{name}.csv").write_text(text)

    def figures(self, done):
        return {figure["id"]: figure for figure in json.loads(done.stdout)["figures"]}

    def test_errors_are_those_of_the_times_that_c3sim_collective_prints(self):
        # Ours over 1.1 times ours is 9.1 % too fast, over 0.95 times ours 5.3 % too slow.
        times = simulated("all_reduce", "mi300x-8", "256 KiB", "8 MiB")
        self.write(slow=table("all_reduce", {size: 1.1 * time for size, time in times.items()}),
                   fast=table("all_reduce", {size: 0.95 * time for size, time in times.items()}))
        done = self.reproduce("system,file,launch,sets\nmi300x-8,slow.csv,eager,\nmi300x-8,fast.csv,eager,link_payload\n",
                              "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        figures = self.figures(done)
        slow, fast = figures["time.table.slow"], figures["time.table.fast"]
        self.assertAlmostEqual(slow["simulated"], 100 / 11, places=6)
        self.assertAlmostEqual(slow["beside"]["bias"], -100 / 11, places=6)
        self.assertAlmostEqual(slow["beside"]["below: median"], 100 / 11, places=6)
        self.assertEqual((slow["rows"], slow["kind"], fast["kind"]), (6, "predicted", "fitted"))
        # The table that sets a parameter counts apart, and is judged by nothing.
        self.assertAlmostEqual(figures["time.large.median"]["simulated"], 100 / 11, places=6)
        self.assertEqual((figures["time.large.median"]["rows"], figures["time.large.median"]["pass"]), (4, None))
        self.assertAlmostEqual(figures["fitted.time.large.median"]["simulated"], 100 / 19, places=6)
        self.assertEqual((figures["fitted.time.large.median"]["rows"], figures["fitted.time.large.median"]["pass"]), (4, None))
        self.assertAlmostEqual(figures["peak.slow"]["simulated"], 10, places=6)
        self.assertAlmostEqual(figures["peak.slow"]["beside"]["here [GB/s]"],
                               1.1 * figures["peak.slow"]["beside"]["measured [GB/s]"])
        self.assertEqual((figures["peak.slow"]["pass"], figures["peak.fast"]["pass"]), (None, None))

    def test_groups_of_systems_and_sites_with_the_same_hardware_are_scored(self):
        # Both sites of eight GPUs measure the same sizes, 5 % apart. One of the two nodes' tables sets a parameter.
        one = simulated("all_reduce", "b200-sxm-8", "256 KiB", "8 MiB")
        self.write(a=table("all_reduce", {size: 1.05 * time for size, time in one.items()}), b=table("all_reduce", one),
                   c=table("all_reduce", {2**20: 100.0}), d=table("all_reduce", {2**20: 100.0}),
                   e=table("all_reduce", {2**20: 100.0}))
        figures = self.figures(self.reproduce("file,system,nodes,launch,sets\na.csv,b200-sxm-8,1,eager,\nb.csv,b200-sxm-8,1,eager,\n"
                                              "c.csv,h100-sxm-8,2,eager,\nd.csv,h100-sxm-8,2,eager,hop_latency\n"
                                              "e.csv,a100-pcie-4,1,eager,\n", "--json"))
        self.assertAlmostEqual(figures["sites.a"]["simulated"], 5, places=6)
        self.assertAlmostEqual(figures["sites.a"]["beside"]["below: median"], 5, places=6)
        self.assertEqual((figures["sites.a"]["rows"], figures["sites.a"]["kind"]), (6, "input"))
        self.assertEqual(figures["time.blackwell.large.median"]["rows"], 8)
        self.assertAlmostEqual(figures["time.blackwell.large.median"]["simulated"], 2.38, places=2)  # of 0 and 4.76 %
        self.assertEqual(figures["time.several_nodes.large.median"]["rows"], 1)
        self.assertEqual(figures["time.pcie.large.median"]["rows"], 1)
        self.assertEqual([id for id in figures if id.startswith("sites.")], ["sites.a", "sites.c"])

    def test_the_peak_is_of_large_messages(self):
        # A time below 1 MiB that no link allows is no peak.
        self.write(odd=table("all_reduce", {2**18: 0.1, 2**23: 100.0}))
        done = self.reproduce("file,system\nodd.csv,mi300x-8\n", "--json")
        peak = self.figures(done)["peak.odd"]["beside"]["measured [GB/s]"]
        self.assertAlmostEqual(peak, 1.75 * 2**23 / 100.0 / 1e3)

    def test_tables_of_ones_own_are_reported_without_gates(self):
        # Times three times ours would fail every gate of the project's own tables.
        times = simulated("all_reduce", "mi300x-8", "256 KiB", "8 MiB")
        self.write(odd=table("all_reduce", {size: 3 * time for size, time in times.items()}))
        done = self.reproduce("file,system,launch\nodd.csv,mi300x-8,eager\n", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for figure in json.loads(done.stdout)["figures"]:
            self.assertEqual((figure["gate"], figure["low"], figure["high"], figure["pass"]), ("none", None, None, None))
        self.assertNotIn("FAIL", self.reproduce("file,system\nodd.csv,mi300x-8\n").stdout)

    def test_what_is_predicted_as_it_was_measured_has_no_error(self):
        times = simulated("all_gather", "h100-sxm-8", "256 KiB", "4 MiB")
        self.write(same=table("all_gather", times))
        done = self.reproduce("file,system\nsame.csv,h100-sxm-8\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        line, = [line for line in done.stdout.splitlines() if line.startswith("from 1 MiB on, median  ")]
        self.assertRegex(line, r"3 +0\.0 +predicted")

    def test_every_row_can_be_had_as_csv(self):
        times = simulated("all_gather", "mi300x-8", "1 MiB", "4 MiB")
        self.write(same=table("all_gather", {size: 2 * time for size, time in times.items()}))
        done = self.reproduce("file,system\nsame.csv,mi300x-8\n", "--rows", self.folder / "rows.csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.folder / "rows.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["size_bytes"]) for row in rows], list(times))
        for row, time in zip(rows, times.values()):
            self.assertAlmostEqual(float(row["here_us"]), time, delta=0.001)
            self.assertAlmostEqual(float(row["measured_us"]), 2 * time, delta=0.001)
            self.assertEqual((row["error_percent"], row["op"], row["ranks"]), ("-50.00", "all_gather", "8"))
            self.assertTrue(row["algorithm"] and row["bottleneck"])
        self.assert_one_line(c3sim("reproduce", "kernels", "--rows", "x.csv"), 2, "--rows: the study 'kernels' does not list")

    def test_ranks_of_the_file_are_a_group_of_the_system(self):
        self.write(two="# collective: all_reduce\n# gpus_total: 2\n" + HEADER + "8388608,,float,50,50\n",
                   many="# collective: all_reduce\n# gpus_total: 16\n" + HEADER + "8388608,,float,50,50\n")
        done = self.reproduce("file,system\ntwo.csv,h100-sxm-8\nmany.csv,h100-sxm-8\n", "--json")
        self.assertEqual(done.returncode, 5)
        self.assertRegex(done.stderr, r"map.csv:3:1: system: h100-sxm-8 has 8 GPUs a node, many needs 16")
        here = self.figures(done)["peak.two"]["beside"]["here [GB/s]"]
        alone = c3sim("collective", "all_reduce", "--system", "h100-sxm-8", "--ranks", "0,1", "--min", "8 MiB", "--max",
                      "8 MiB", "--launch", "eager", "--json", "-q")
        self.assertAlmostEqual(here, json.loads(alone.stdout)["rows"][0]["busbw_gbps"])

    def test_several_nodes_are_joined_by_a_fabric(self):
        # The file says how many nodes, the map which fabric.
        self.write(two="# collective: all_reduce\n# gpus_total: 16\n# nodes: 2\n" + HEADER + "8388608,,float,150,150\n")
        done = self.reproduce("file,system,fabric,algorithm,protocol\ntwo.csv,mi300x-8,roce-400g,ring,ll\n", "--json")
        here = self.figures(done)["peak.two"]["beside"]["here [GB/s]"]
        alone = c3sim("collective", "all_reduce", "--system", "mi300x-8", "--nodes", "2", "--fabric", "roce-400g", "--algo",
                      "ring", "--proto", "ll", "--launch", "eager", "--min", "8 MiB", "--max", "8 MiB", "--json", "-q")
        self.assertAlmostEqual(here, json.loads(alone.stdout)["rows"][0]["busbw_gbps"])
        wrong = self.reproduce("file,system,fabric\ntwo.csv,mi300x-8,roce-40g\n", "-q")
        self.assert_one_line(wrong, 3, r"map.csv:2:18: fabric: unknown fabric 'roce-40g'.*did you mean 'roce-400g'\? known: ")

    def test_mistakes_of_the_map_cost_their_table_and_no_other(self):
        self.write(good=table("all_reduce", {2**21: 70.0}), other="")
        done = self.reproduce("file,system\ngood.csv,mi300x-8\ngood.csv,mi30x-8\nnowhere.csv,mi300x-8\n")
        self.assertEqual(done.returncode, 5)
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], r"map.csv:3:10: system: unknown system 'mi30x-8'.*did you mean 'mi300x-8'\? known: ")
        self.assertRegex(lines[1], r"map.csv:4:1: file: no file nowhere.csv in .*tables$")
        self.assertRegex(lines[2], r"tables: files that no row of .*map.csv names: other.csv$")
        self.assertEqual(len(lines), 3)
        self.assertIn("\ngood ", done.stdout)
        quiet = self.reproduce("file,system\ngood.csv,mi300x-8\n", "-q")
        self.assertEqual(quiet.stderr, "")

    def test_a_map_without_a_table_that_can_be_run_is_an_error(self):
        self.write(good=table("all_reduce", {2**21: 70.0}))
        self.assert_one_line(self.reproduce("file,system\n", "-q"), 3, r"map.csv:1:1: file: the map names no table$")
        self.assert_one_line(self.reproduce("file,system\ngood.csv,x\n", "-q"), 3, "map.csv:2:10: system: unknown system 'x'")
        self.assert_one_line(self.reproduce("file,system\ngood.csv\n", "-q"), 3, "map.csv:2:1: row: has 1 cells, the header 2")
        self.assert_one_line(self.reproduce("file,sytem\n", "-q"), 3, "map.csv:1:1: sytem: unknown column.*did you mean 'system'")

    def test_rows_that_cannot_be_run_are_named_and_counted(self):
        self.write(two="# collective: all_reduce\n" + HEADER + "2097152,,float,70,70\nx,,float,70,70\n")
        done = self.reproduce("file,system,algorithm,gpus\ntwo.csv,mi300x-8,nvls,\n", "--json")
        self.assertEqual(done.returncode, 5)
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], "two.csv:4:1: size_bytes: 'x' is no number of bytes")
        self.assertRegex(lines[1], "two.csv:3:1: all_reduce: .*nvls")
        figure = self.figures(done)["time.table.two"]
        self.assertEqual((figure["simulated"], figure["rows"], figure["skipped"]), (None, 0, 1))

    def test_links_and_experts_are_known_by_their_columns(self):
        self.write(links="src,CPU0,GPU0,GPU1\nCPU0,40,41,42\nGPU0,55,1700,48.44\nGPU1,55,47,NA\n",
                   experts="hidden_size,num_token,num_topk,num_experts,dispatch_sms,dispatch_transmit_us,dispatch_notify_us,"
                           "combine_sms,combine_transmit_us,combine_notify_us,node_num\n"
                           "7168,1,8,256,8,26,0,8,47,0,1\n7168,4096,8,256,8,1080,0,8,2030,0,1\n"
                           "7168,4096,8,256,4,2070,0,4,3900,0,1\n7168,4096,8,256,4,9,0,4,9,0,2\n")
        done = self.reproduce("file,system,op,library\nlinks.csv,mi300x-8,one_way,\nexperts.csv,h100-sxm-8,,deepep-h100\n",
                              "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        figures = self.figures(done)
        self.assertEqual(figures["links.one_way.worst.links"]["rows"], 2)
        self.assertAlmostEqual(figures["links.one_way.worst.links"]["simulated"], 100 * (48.44 / 47 - 1), delta=0.05)
        self.assertAlmostEqual(figures["links.one_way.median.links"]["simulated"], 50 * (48.44 / 47 - 1), delta=0.05)
        # The rate from 8 SMs makes 4,096 tokens right there, and adds the 0.26 us of one token's bytes to its latency of
        # 26 us: half of 1 % in the median of two rows. 4 SMs take twice the time beyond 26 us, 2134 us.
        self.assertAlmostEqual(figures["deepep.dispatch.sms.8"]["simulated"], 50 * 0.26 / 26, delta=0.02)
        self.assertEqual(figures["deepep.dispatch.sms.8"]["kind"], "fitted")
        self.assertAlmostEqual(figures["deepep.dispatch.sms.4"]["simulated"], 100 * (2134 / 2070 - 1), delta=0.1)
        self.assertEqual(figures["deepep.dispatch.sms.4"]["pass"], None)

    def test_the_folder_and_the_study_must_fit(self):
        self.assert_one_line(c3sim("reproduce", "collectives", "--data", self.folder / "no"), 74,
                             "no: cannot reproduce collectives: the folder of measured tables is not there")
        self.assert_one_line(c3sim("reproduce", "kernels", "--systems", "x.csv"), 2,
                             "--systems: the study 'kernels' has no map of systems")
        self.write(good=table("all_reduce", {2**21: 70.0}))
        self.assert_one_line(c3sim("reproduce", "collectives", "--data", self.folder / "tables", "--systems", "no.csv"), 74,
                             "no.csv")


if __name__ == "__main__":
    unittest.main()
