"""c3sim collective --table compares with what nccl-tests printed; sizes and names are taken as nccl-tests takes them."""

import json
import unittest

from command import ScratchTest, c3sim

# As all_reduce_perf prints it; {rows} of size, count, type, redop, root, then time, algbw, busbw and #wrong twice.
PRINTED = """\
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 8388608 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
{ranks}
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
{rows}
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 200.0
"""
RANK = "#  Rank {0} Group  0 Pid 100{0} on node device  {0} [0000:0{0}:00] NVIDIA H100"


def printed(times, ranks=8):
    """times: of each size, out of place and in place [us]."""
    rows = [f"{size} {size // 4} float sum -1 {out} 1.0 1.0 0 {inside} 1.0 1.0 0" for size, (out, inside) in times.items()]
    return PRINTED.format(ranks="\n".join(RANK.format(rank) for rank in range(ranks)), rows="\n".join(rows))


def rows_of(*arguments):
    done = c3sim("collective", *arguments, "--json", "-q")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)["rows"]


class CollectiveTable(ScratchTest):
    def write(self, text, name="table.txt"):
        (self.folder / name).write_text(text)
        return self.folder / name

    def test_errors_are_of_the_shorter_measured_time(self):
        here = {int(row["bytes"]): row["time_us"] for row in
                rows_of("all_reduce", "--system", "h100-sxm-8", "--min", "256K", "--max", "4M", "--launch", "eager")}
        # Out of place twice as long as here, in place a quarter longer: here is 20 % too fast.
        file = self.write(printed({size: (2 * time, 1.25 * time) for size, time in here.items()}))
        done = c3sim("-q", "collective", "allreduce", "--table", file, "--system", "h100-sxm-8", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        self.assertEqual((found["table"], found["ranks"], len(found["rows"])), ("table", 8, 5))
        for row in found["rows"]:
            measured = row["measured"]
            self.assertAlmostEqual(row["time_us"], here[int(row["bytes"])])
            self.assertAlmostEqual(measured["error_percent"], -20.0)
            self.assertAlmostEqual(measured["in_place_us"], measured["time_us"])
            self.assertAlmostEqual(measured["out_of_place_us"], 1.6 * measured["in_place_us"])
            self.assertAlmostEqual(measured["busbw_gbps"], row["bytes"] / measured["time_us"] / 1e3 * 2 * 7 / 8)
        (score,) = found["errors"]
        self.assertEqual((score["from_1_mib"]["rows"], score["below_1_mib"]["rows"]), (3, 2))
        for part in ("from_1_mib", "below_1_mib"):
            self.assertAlmostEqual(score[part]["median_percent"], 20.0)
            self.assertAlmostEqual(score[part]["bias_percent"], -20.0)
        self.assertAlmostEqual(score["peak_busbw_gbps"] / score["peak_busbw_measured_gbps"], 1.25)

    def test_the_table_says_the_operation_and_as_many_ranks_as_took_part(self):
        file = self.write("# collective: AllGather\nsize_bytes,time_us,gpus\n1048576,50,4\n")
        found = json.loads(c3sim("collective", "--table", file, "--system", "h100-sxm-8", "--json", "-q").stdout)
        self.assertEqual((found["op"], found["ranks"]), ("all_gather", 4))
        alone = rows_of("all_gather", "--system", "h100-sxm-8", "--ranks", "0-3", "--min", "1M", "--max", "1M", "--launch", "eager")
        self.assertEqual(found["rows"][0]["time_us"], alone[0]["time_us"])

    def test_of_several_tables_in_a_file_one_is_chosen(self):
        file = self.write("op,gpus,size_bytes,time_us\nall_reduce,8,1048576,50\nall_reduce,4,1048576,40\nbroadcast,8,1048576,30\n")
        done = c3sim("collective", "--table", file, "--system", "h100-sxm-8", "-q")
        self.assertEqual(done.returncode, 2)
        self.assertIn("all_reduce on 8 GPUs, all_reduce on 4 GPUs, broadcast on 8 GPUs; choose one by OP and --ranks", done.stderr)
        done = c3sim("collective", "all_reduce", "--ranks", "0-3", "--table", file, "--system", "h100-sxm-8", "-q", "--json")
        self.assertEqual(json.loads(done.stdout)["rows"][0]["measured"]["time_us"], 40)

    def test_more_gpus_than_there_are_is_refused_with_what_to_say(self):
        file = self.write("# collective: all_reduce\n# gpus_total: 16\nsize_bytes,time_us\n1048576,50\n")
        done = c3sim("collective", "--table", file, "--system", "h100-sxm-8", "-q")
        self.assertEqual(done.returncode, 2)
        self.assertIn("it has times of 16 GPUs, and there are 8, in one node of 8; say --nodes, --system or --ranks", done.stderr)
        self.assertEqual(c3sim("collective", "--table", file, "--system", "h100-sxm-8", "--nodes", "2", "-q").returncode, 0)

    def test_broken_rows_are_named_and_the_others_compared(self):
        file = self.write("# collective: all_reduce\nsize_bytes,time_us\n1048576,50\n2097152,fast\n")
        done = c3sim("collective", "--table", file, "--system", "h100-sxm-8", "-q", "--json")
        self.assertEqual(done.returncode, 5)
        self.assertIn("table.txt:4:9: time_us: 'fast' is no time", done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["rows"]), 1)

    def test_a_table_has_its_own_sizes(self):
        file = self.write("# collective: all_reduce\nsize_bytes,time_us\n1048576,50\n")
        done = c3sim("collective", "--table", file, "--system", "h100-sxm-8", "--min", "1M")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--min", done.stderr)

    def test_the_page_has_a_curve_for_what_was_measured_and_for_each_method(self):
        file = self.write(printed({2**20: (60, 61), 2**24: (130, 131), 2**28: (1200, 1201)}))
        page = self.folder / "page.html"
        done = c3sim("collective", "--table", file, "allreduce", "--system", "h100-sxm-8", "--algo", "auto,ring", "-o", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        for words in ("Bus bandwidth", "Error of the time", "measured", "cu ring auto eager", "256 MiB"):
            self.assertIn(words, text)
        self.assertEqual(text.count("<figure"), 3)
        self.assertEqual(done.stdout.count(" eager "), 8)  # six rows and two scores

    def test_sizes_without_b_are_binary_as_in_nccl_tests(self):
        for short, long in (("8K", "8 KiB"), ("2m", "2 MiB"), ("1G", "1 GiB"), ("4096", "4 KiB"), ("0.5M", "512 KiB")):
            with self.subTest(size=short):
                args = ("all_reduce", "--system", "h100-sxm-8", "--grain", "gang")
                self.assertEqual(rows_of(*args, "--min", short, "--max", short), rows_of(*args, "--min", long, "--max", long))
        self.assertEqual(rows_of("all_reduce", "--system", "h100-sxm-8", "--min", "8 kB", "--max", "8 kB")[0]["bytes"], 8000)
        for wrong in ("K", "8Q", "-4K", "nanK", ""):
            with self.subTest(size=wrong):
                self.assertEqual(c3sim("collective", "all_reduce", "--system", "h100-sxm-8", "--min=" + wrong).returncode, 2)

    def test_operations_are_known_by_every_usual_spelling(self):
        for spelling, name in (("alltoall", "all_to_all"), ("AllReduce", "all_reduce"), ("reduce-scatter", "reduce_scatter"),
                               ("sendrecv", "send_receive"), ("all_gather_perf", "all_gather")):
            with self.subTest(spelling=spelling):
                args = ("--system", "h100-sxm-8", "--min", "1M", "--max", "1M")
                self.assertEqual(rows_of(spelling, *args), rows_of(name, *args))
        done = c3sim("collective", "all_reduse", "--system", "h100-sxm-8")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'all_reduce'?", done.stderr)
        self.assertEqual(c3sim("collective", "--system", "h100-sxm-8").returncode, 2)


if __name__ == "__main__":
    unittest.main()
