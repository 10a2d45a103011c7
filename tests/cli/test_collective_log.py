"""c3sim collective --table LOG --system auto takes system, nodes, release and variables from a job's log."""

import json
import unittest

from command import ScratchTest, c3sim

HEAD = """\
NCCL version 2.27.3+cuda12.8
# nccl-tests version 2.19.6 nccl-headers=22703 nccl-library=22703
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
{devices}
{messages}
#                                                       out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
"""
INFO = "node-0:4000:4100 [0] NCCL INFO "
MESSAGES = ("comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0",
            "NCCL_ALGO set by environment to Ring",
            "NCCL_MIN_CTAS set by environment to 8.",
            "NCCL_DEBUG set by environment to INFO",
            "NCCL_NVLS_ENABLE set by environment to maybe",
            "AllReduce: 1048576 Bytes -> Algo TREE proto LL128 channel{Lo..Hi}={0..7}",
            "AllReduce: 4194304 Bytes -> Algo TREE proto SIMPLE channel{Lo..Hi}={0..7}")


def log(hosts=2, gpu="NVIDIA H100 80GB HBM3", messages=MESSAGES, rows=((1 << 20, 60, 61), (1 << 22, 90, 91))):
    devices = "\n".join(f"#  Rank {rank:2} Group  0 Pid 40{rank:02} on node-{rank // 8} device {rank % 8} [0000:0{rank % 8}:00] {gpu}"
                        for rank in range(8 * hosts))
    return (HEAD.format(devices=devices, messages="\n".join(INFO + message for message in messages)) +
            "".join(f"{size} {size // 4} float sum -1 {out} 1.0 1.0 0 {inside} 1.0 1.0 0\n" for size, out, inside in rows))


class CollectiveLog(ScratchTest):
    def write(self, text, name="job.log"):
        (self.folder / name).write_text(text)
        return self.folder / name

    def json_of(self, *arguments):
        done = c3sim("-q", "collective", *arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        return json.loads(done.stdout)

    def test_the_log_says_the_system_and_each_value_says_from_what(self):
        found = self.json_of("--table", self.write(log()), "--system", "auto")
        self.assertEqual((found["system"], found["nodes"], found["ranks"]), ("h100-sxm-8", 2, 16))
        self.assertEqual(found["env"], {"NCCL_ALGO": "Ring", "NCCL_MIN_CTAS": "8"})
        taken = {entry["key"]: (entry["value"], entry["from"]) for entry in found["log"]["taken"] if entry["key"] != "--env"}
        self.assertEqual(taken, {"system": ('"h100-sxm-8"', "16 x NVIDIA H100 80GB HBM3"), "nodes": ("2", "nNodes of the library"),
                                 "library.version": ('"2.27.3"', "NCCL 2.27.3")})
        self.assertEqual([entry["key"] for entry in found["log"]["assumed"]], ["system", "fabric"])
        ignored = {entry["from"]: entry["why"] for entry in found["log"]["ignored"]}
        self.assertEqual(ignored["NCCL_DEBUG"], "it is for diagnosis")
        self.assertIn("must be a whole number, not 'maybe'", ignored["NCCL_NVLS_ENABLE"])
        self.assertEqual(found["rows"][0]["algorithm"], "ring")  # NCCL_ALGO of the log
        same = self.json_of("all_reduce", "--system", "h100-sxm-8", "--nodes", "2", "--set", "library.version=\"2.27.3\"", "--env", "NCCL_ALGO=Ring",
                            "--env", "NCCL_MIN_CTAS=8", "--launch", "eager", "--min", "1M", "--max", "1M")
        self.assertEqual(found["rows"][0]["time_us"], same["rows"][0]["time_us"])

    def test_it_says_where_the_library_ran_otherwise(self):
        found = self.json_of("--table", self.write(log()), "--system", "auto")
        self.assertEqual(found["rows"][0]["logged"], {"algorithm": "tree", "protocol": "ll128", "channels": 8})
        (difference,) = found["log"]["differences"]
        self.assertRegex(difference, "^job differs from what is simulated: its library ran 2 of 2 sizes in another way; "
                                     "4.1943 MB as tree simple, 8 channels, here as ring ")
        self.assertNotIn("logged", self.json_of("--table", self.folder / "job.log", "--system", "auto", "--algo", "ring")["rows"][0])
        text = c3sim("-q", "collective", "--table", self.folder / "job.log", "--system", "auto").stdout
        for words in ("tree ll128, 8 channels", "nNodes of the library", "assumed: aws-p5-8, gcp-a3-high-8, gcp-a3-mega-8 would fit as well",
                      "ignored: NCCL_DEBUG (it is for diagnosis)", "its library ran 2 of 2 sizes in another way"):
            self.assertIn(words, text)

    def test_options_win_over_the_log_which_says_so(self):
        found = self.json_of("--table", self.write(log()), "--system", "h200-sxm-8", "--nodes", "4", "--ranks", "0-15", "--env", "NCCL_ALGO=Tree",
                             "--set", "library.version=\"2.20.5\"")
        self.assertEqual((found["system"], found["nodes"]), ("h200-sxm-8", 4))
        self.assertEqual(found["env"]["NCCL_ALGO"], "Tree")
        text = "\n".join(found["log"]["differences"])
        for words in ("its GPUs are 'NVIDIA H100 80GB HBM3', and h200-sxm is simulated", "it ran on 2 nodes, and 4 are simulated",
                      "its library is NCCL 2.27.3, and the rules of 2.20.5 choose"):
            self.assertIn(words, text)
        self.assertIn({"from": "NCCL_ALGO", "why": "--env says otherwise than its 'Ring'"}, found["log"]["ignored"])

    def test_a_variable_that_an_option_contradicts_is_ignored(self):
        found = self.json_of("--table", self.write(log()), "--system", "auto", "--set", "library.min_channels=4")
        self.assertNotIn("NCCL_MIN_CTAS", found["env"])
        self.assertIn("NCCL_MIN_CTAS", [entry["from"] for entry in found["log"]["ignored"]])

    def test_a_release_that_is_not_modelled_stands_for_the_nearest(self):
        text = log(messages=()).replace("2.27.3", "2.10.3").replace("22703", "21003")
        found = self.json_of("--table", self.write(text), "--system", "auto")
        self.assertIn("its library is NCCL 2.10.3, and the rules of 2.18.6, the nearest that is modelled, choose", found["log"]["differences"][0])

    def test_launches_are_those_of_the_test(self):
        def launch_of(text):
            return self.json_of("--table", self.write(text), "--system", "auto")["rows"][0]["launch"]

        one = log(hosts=1, messages=())
        self.assertEqual(launch_of(one), "eager")
        self.assertEqual(launch_of(one.replace("graph: 0", "graph: 1")), "graph")
        self.assertEqual(launch_of(one.replace("nGpus 1", "nGpus 8")), "one_process")

    def test_a_log_without_times_says_the_system_and_the_sizes(self):
        text = "NCCL version 2.27.3+cuda12.8\n" + "".join(INFO + message + "\n" for message in MESSAGES)
        found = self.json_of("--table", self.write(text), "--system", "h100-sxm-8")
        self.assertEqual((found["op"], found["nodes"], found["ranks"]), ("all_reduce", 2, 16))
        self.assertEqual([row["bytes"] for row in found["rows"]], [1 << 20, 1 << 22])
        self.assertNotIn("errors", found)
        self.assertEqual(found["rows"][1]["logged"]["protocol"], "simple")
        other = self.json_of("broadcast", "--table", self.folder / "job.log", "--system", "h100-sxm-8")
        self.assertEqual(other["rows"][0]["bytes"], 8)
        self.assertEqual(c3sim("collective", "--table", self.folder / "job.log", "--system", "h100-sxm-8", "-o", self.folder / "p.html").returncode, 0)
        done = c3sim("collective", "--table", self.write("NCCL version 2.27.3+cuda12.8\n"), "--system", "h100-sxm-8")
        self.assert_one_line(done, 2, "OP is required: --table .*job.log has no times, and does not say which collectives ran")

    def test_auto_is_refused_where_nothing_says_the_system(self):
        self.assert_one_line(c3sim("collective", "all_reduce", "--system", "auto"), 2, "--system auto: requires --table FILE")
        table = self.write("# collective: all_reduce\nsize_bytes,time_us,gpus\n8,1,8\n")
        self.assert_one_line(c3sim("collective", "--table", table, "--system", "auto"), 2, "does not name one kind of GPU")

    def test_other_types_reductions_and_spreads_are_shown_as_measured(self):
        text = log(hosts=1, messages=(), rows=())
        header = text.splitlines()[-1]
        text = text.replace(header, header.replace("#wrong", "#wrong i_min i_max i_p99 i_cv%"))
        each = "1.0 1.0 0 {0} {1} {1} 2.5"
        text += f"1048576 131072 double max -1 60 {each.format(59, 70)} 61 {each.format(60, 71)}\n" * 2
        done = c3sim("collective", "--table", self.write(text), "--system", "auto", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        (row,) = json.loads(done.stdout)["rows"]
        self.assertEqual((row["dtype"], row["count"], row["measured"]["repetitions"]), ("double", 131072, 2))
        self.assertEqual(row["measured"]["iterations"], {"least_us": 59, "most_us": 70, "p99_us": 70, "cv_percent": 2.5})
        for words in ("measured with max; a sum of as many bytes is simulated", "no collective here has elements of type double",
                      "sizes were measured up to 2 times"):
            self.assertIn(words, done.stderr)
        text = c3sim("-q", "collective", "--table", self.folder / "job.log", "--system", "auto").stdout
        for words in ("59.0 to 70.0, p99 70.0, cv 2.5 %", "1 times here lie between the shortest and the longest iteration", " max "):
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
