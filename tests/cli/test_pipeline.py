"""Ranks with streams of their own: timed kernels and messages, as docs/experiments.md shows them."""

import json
import re
import tomllib
import unittest

import h5py
import jsonschema

from command import SOURCE, ScratchTest, c3sim

HEAD = 'schema = 1\nsystem = "h100-sxm-8"\ngpu.speed_spread = 0  # alike, as times worked out by hand are\n[communicator]\npp = { size = 2, stride = 4 }\n'
SEND = '{ send = { size = "1 MiB", to = 1, over = "pp" } }'
RECEIVE = '{ receive = { size = "1 MiB", from = -1, over = "pp" } }'
TIMED = '{ timed = "1 ms" }'


def ranks(name, which, *operations):
    run = ", ".join(operations)
    return f'[[ranks]]\nname = "{name}"\nranks = "{which}"\n[[ranks.stream]]\nname = "s"\nrun = [{run}]\n'


class Pipeline(ScratchTest):
    def run_text(self, text, *arguments):
        (self.folder / "job.toml").write_text(text)
        return c3sim("run", "job.toml", "-o", "job.h5", "-q", *arguments, folder=self.folder)

    def refused(self, text, pattern):
        self.assert_one_line(self.run_text(text + "[strategy.now]\n"), 3, pattern)

    def test_the_documented_pipeline_runs_one_stage_after_the_other(self):
        page = (SOURCE / "docs/experiments.md").read_text()
        example = next(block for block in re.findall(r"^```toml\n(.*?)^```", page, re.M | re.S) if "[[ranks]]" in block)
        done = self.run_text(example, "--json", "--trace", "trace")
        self.assertEqual(done.returncode, 0, done.stderr)
        for strategy in json.loads(done.stdout)["strategies"]:
            # A pass forward and one backward on each of two stages, and two messages of 64 MiB over NVLink.
            self.assertGreater(strategy["time_us"], 2 * 6000 + 2 * 67.1 / 0.45)
            self.assertLess(strategy["time_us"], 2 * 6000 + 2 * 67.1 / 0.2 + 100)
            self.assertLessEqual(strategy["lower_bound_us"], strategy["time_us"])
        with h5py.File(self.folder / "job.h5") as file:
            collectives = file["strategies/channels/collectives"]
            self.assertEqual(len(collectives["start"]), 4 + 4 + 4 + 4)  # a send and a receive of each of eight ranks
        events = json.loads((self.folder / "trace/channels/rank5.json").read_text())["traceEvents"]
        names = [event["name"] for event in events if event.get("cat") == "kernel"]
        self.assertEqual(names.count("ncclDevKernel_SendRecv"), 2)
        self.assertIn("backward", names)

    def test_the_shipped_pipeline_takes_the_time_of_1f1b_and_of_its_messages(self):
        done = c3sim("run", SOURCE / "configs/experiments/pipeline_1f1b.toml", "--json", "-q", "-o", "job.h5", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for strategy in json.loads(done.stdout)["strategies"]:
            passes = (2 - 1 + 3) * (2000 + 4000)
            exposed = 4 * 33.55 / 0.45  # the first message and the last, and the two exchanges: bytes at the rate of NVLink
            self.assertGreater(strategy["time_us"], passes + exposed)
            self.assertLess(strategy["time_us"], passes + 2 * exposed)
            self.assertIsNone(strategy["share_of_ideal"])  # stages wait for each other: nothing is to overlap

    def test_each_class_of_ranks_has_a_name_and_its_own_times(self):
        text = HEAD + ranks("first", "0-3", TIMED, SEND) + ranks("second", "4-7", RECEIVE, TIMED, TIMED) + "[strategy.now]\n"
        done = self.run_text(text, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        classes = json.loads(done.stdout)["strategies"][0]["classes"]
        self.assertEqual([its["name"] for its in classes], ["first"] * 4 + ["second"] * 4)  # every rank of one node
        self.assertGreaterEqual(json.loads(done.stdout)["strategies"][0]["flows"], 16)  # kernels and messages
        self.assertIsNone(json.loads(done.stdout)["strategies"][0]["estimate"])
        for its in classes:
            self.assertAlmostEqual(its["kernels_us"], 1000 if its["name"] == "first" else 2000, delta=5)
            self.assertGreater(its["communication_us"], 1)
        table = self.run_text(text).stdout
        self.assertRegex(table, r"\nnow second +4-7 +4 +2\.0")
        self.assertEqual(c3sim("report", "job.h5", "-o", "job.html", folder=self.folder).stderr.count("cannot"), 0)
        self.assertRegex((self.folder / "job.html").read_text(), r"now second</th><td>4-7</td><td>4</td>")
        self.assertIn("no change", c3sim("diff", "job.h5", "job.h5", folder=self.folder).stdout)

    def test_a_straggler_in_a_pipeline_makes_five_classes_more_and_takes_as_long_as_rank_by_rank(self):
        head = ('schema = 1\nsystem = "h100-sxm-8"\nnodes = 4\nfabric = "ib-ndr"\n'
                '[communicator]\npp = { size = 4, stride = 8 }\n')
        gather = '{ all_gather = { size = "8 MiB", groups = { size = 2, stride = 1 } } }'
        reduce = '{ all_reduce = { size = "64 MiB", groups = { size = 4, stride = 2 } } }'

        def stage(number, forward):
            def one(key, where, offset):
                there = 0 <= number + offset < 4
                return [f'{{ {key} = {{ size = "64 MiB", {where} = {offset}, over = "pp" }} }}'] * there

            down = one("receive", "from", -1) + [f'{{ timed = "{forward}" }}', gather] + one("send", "to", 1)
            up = one("receive", "from", 1) + ['{ timed = "4 ms" }', gather] + one("send", "to", -1)
            return 3 * down + 3 * up + [reduce]

        def pipeline(slow):
            text = head
            for number in range(4):
                first, last = 8 * number, 8 * number + 7
                hot = slow is not None and first <= slow <= last
                which = f"{first}-{slow - 1},{slow + 1}-{last}" if hot else f"{first}-{last}"
                text += ranks(f"stage{number}", which, *stage(number, "2 ms"))
                if hot:
                    text += ranks("hot", str(slow), *stage(number, "3 ms"))
            return text + "[strategy.now]\n"

        def now(text, *more):
            done = self.run_text(text, "--json", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["strategies"][0]

        self.assertEqual(len(now(pipeline(None))["classes"]), 4)
        folded = now(pipeline(10))
        self.assertEqual(len(folded["classes"]), 4 + 5)
        explicit = now(pipeline(10), "--set", 'measure.fold="none"')
        self.assertEqual(len(explicit["classes"]), 32)
        self.assertAlmostEqual(folded["time_us"] / explicit["time_us"], 1, delta=1e-3)

    def test_each_class_says_what_it_holds_and_one_without_room_is_refused_by_name(self):
        # 16.8 MB each of two operands and 134.2 MB of their product; a message in its buffer. One stream holds one at a time.
        gemm = '{ gemm = { m = 8192, n = 8192, k = 1024, dtype = "bf16" } }'
        send, receive = (its.replace("1 MiB", "64 MiB") for its in (SEND, RECEIVE))
        text = HEAD + ranks("first", "0-3", gemm, send) + ranks("second", "4-7", receive) + "[strategy.now]\n"
        done = self.run_text(text, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        held = {its["name"]: its["memory_bytes"] for its in json.loads(done.stdout)["strategies"][0]["classes"]}
        self.assertEqual(held, {"first": 2 * (2 * 8192 * 1024 + 8192**2), "second": 64 * 2**20})
        table = self.run_text(text).stdout
        self.assertRegex(table, r"\nranks .* idle +memory\n")
        self.assertRegex(table, r"\nnow second +4-7 +4 .* 0\.067\n")
        with h5py.File(self.folder / "job.h5") as file:
            self.assertEqual(list(file["strategies/now/classes/memory"]), [167772160] * 4 + [67108864] * 4)
        self.assertEqual(c3sim("report", "job.h5", "-o", "job.html", folder=self.folder).returncode, 0)
        self.assertIn("<td>0.067</td>", (self.folder / "job.html").read_text())
        # Of a timed kernel nobody knows what it holds: then no class says it.
        timed = text.replace(f"run = [{receive}]", f"run = [{receive}, {TIMED}]")
        classes = json.loads(self.run_text(timed, "--json").stdout)["strategies"][0]["classes"]
        self.assertEqual({its["memory_bytes"] for its in classes}, {None})
        self.assertNotIn("memory", self.run_text(timed).stdout)
        # 50 GB on one stream of some ranks and on another of others: no GPU holds both.
        gather = '{ all_gather = { size = "50 GB", groups = { size = 4, stride = 1 } } }'
        other = ranks("second", "4-7", gather).replace('name = "s"', 'name = "t"')
        self.assertEqual(self.run_text(HEAD + ranks("first", "0-3", gather) + other + "[strategy.now]\n").returncode, 0)
        done = self.run_text(HEAD + ranks("first", "0-3", gather) + ranks("second", "4-7", gather.replace("50", "90"))
                             + "[strategy.now]\n")
        self.assert_one_line(done, 4, r"out of GPU memory: ranks 4-7 \('second'\): 90 GB of stream 's' \('.*'\) takes "
                                      r"together 90 GB, and gpu 'h100-sxm' has 85\.52 GB$")

    def test_the_page_says_that_a_receive_waits_for_its_sender(self):
        # Both are done with their GEMMs when ranks 4-7 want their message, for which ranks 0-3 come 5 ms later.
        gemm = '{ gemm = { m = 8192, n = 8192, k = 1024, dtype = "bf16" } }'
        message = '{{ {} = {{ size = "64 MiB", {} = {}, over = "pp" }} }}'
        text = (HEAD + ranks("first", "0-3", gemm, '{ timed = "5 ms" }', message.format("send", "to", 1))
                + ranks("second", "4-7", gemm, message.format("receive", "from", -1), gemm) + "[strategy.now]\n")
        done = self.run_text(text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(c3sim("report", "job.h5", "-o", "job.html", folder=self.folder).returncode, 0)
        page = (self.folder / "job.html").read_text()
        self.assertRegex(page, r"pp 0 to 4 waits 5\.\d+ ms for rank 0 to come\.")
        self.assertNotIn("for CU slots", page)

    def test_a_file_expands_classes_to_ranks(self):
        stages = "".join(ranks(f"node{node}", f"{8 * node}-{8 * node + 7}", *[TIMED] * (node + 1)) for node in range(3))
        head = 'schema = 1\nsystem = "h100-sxm-8"\nnodes = 3\nfabric = "ib-ndr"\n'
        done = self.run_text(head + stages + "[strategy.now]\n", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "job.h5") as file:
            now = file["strategies/now"]
            which = now["ranks/class"][13]
            name = file["names"].asstr()[now["classes/name"][which]]
            kernels = now["classes/kernels"][which]
            self.assertEqual((name, which, now["classes/multiplicity"][which]), ("node1", 1, 8))
            self.assertAlmostEqual(kernels, 2_000_000_000, delta=5_000_000)
            self.assertEqual(len(now["ranks/class"]), 24)
            self.assertEqual(list(now["classes/representative"]), [0, 8, 16])
        listed = c3sim("inspect", "job.h5", "--table", "classes", "--csv", folder=self.folder).stdout.splitlines()
        self.assertEqual(listed[2].split(",")[1:4], ["node1", "8-15", "8"])
        self.assertEqual(len(c3sim("inspect", "job.h5", "--table", "ranks", "--csv", folder=self.folder).stdout.splitlines()), 25)

    def test_classes_that_another_program_numbers_otherwise_are_refused(self):
        self.run_text(HEAD + ranks("all", "0-7", TIMED) + "[strategy.now]\n")
        with h5py.File(self.folder / "job.h5", "r+") as file:
            file["strategies/now/ranks/class"][0] = 5
        with open(self.folder / "job.h5", "r+b") as file:
            file.write(bytes(512))  # the seal of a file that another program has changed
        self.assert_one_line(c3sim("report", "job.h5", "-o", "job.html", folder=self.folder), 74,
                             r"job.h5: cannot read: table 'ranks' does not number classes in the order of their lowest ranks$")

    def test_an_editor_accepts_ranks_and_communicators(self):
        schema = json.loads(c3sim("config", "schema", "experiment").stdout)
        text = HEAD + ranks("first", "0-3", TIMED, SEND) + ranks("second", "4-7", RECEIVE) + "[strategy.now]\n"
        jsonschema.Draft4Validator(schema).validate(tomllib.loads(text))

    def test_messages_that_do_not_meet_are_refused(self):
        self.refused(HEAD + ranks("first", "0-3", SEND) + ranks("second", "4-7", TIMED),
                     r"^job.toml:\d+:\d+: ranks: over 'pp' rank 0 sends 1 message to rank 4, which receives 0$")

    def test_a_communicator_that_is_not_there_gets_a_suggestion(self):
        self.refused(HEAD + ranks("all", "0-7", SEND.replace("pp", "p")),
                     r"^job.toml:\d+:\d+: stream.s.run\[0\]: .*communicator 'p'.*did you mean 'pp'\?")

    def test_a_rank_has_one_table(self):
        self.refused(HEAD + ranks("a", "0-4", TIMED) + ranks("b", "4-7", TIMED),
                     r"^job.toml:\d+:\d+: ranks.ranks: rank 4 is in two tables of \[\[ranks\]\]$")
        self.refused(HEAD + ranks("a", "0-8", TIMED), r"there is no rank 8 of 8$")

    def test_streams_of_all_ranks_are_not_combined_with_them(self):
        self.refused(HEAD + ranks("a", "0-7", TIMED) + f'[[stream]]\nname = "t"\nrun = [{TIMED}]\n',
                     r"cannot be combined with \[\[stream\]\]")
        self.refused(HEAD + ranks("a", "0-7", '{ timed = { time = "1 ms", on = [0] } }'), r"`on` cannot be used in \[\[ranks\]\]")

    def test_a_kernel_may_read_and_write_nothing(self):
        timed = '{ timed = { time = "1 ms", read = "0 B", written = "0 B" } }'
        done = self.run_text(HEAD + ranks("a", "0-7", timed) + "[strategy.now]\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_time_must_be_above_0_and_groups_must_divide_the_ranks(self):
        self.refused(HEAD + ranks("a", "0-7", '{ timed = "0 ms" }'), r"stream.s.run\[0\].timed: must be above 0, not 0 ms$")
        self.refused(HEAD.replace("size = 2", "size = 3") + ranks("a", "0-7", TIMED), r"do not divide 8 ranks$")

    def test_sends_that_wait_for_each_other_are_a_deadlock(self):
        ring = HEAD.replace("stride = 4", "stride = 1").replace("size = 2", "size = 8")
        tied = ring + f'[[stream]]\nname = "s"\nrun = [{SEND}, {RECEIVE}]\n[strategy.now]\n'
        self.assertEqual(self.run_text(tied).returncode, 0)  # 1 MiB fits into a pair's buffer of 4 MiB
        self.assertEqual(self.run_text(tied, "--set", "library.pair_buffer=0 B").returncode, 4)
        self.assertEqual(self.run_text(tied + 's.backend = "dma"\n').returncode, 4)
        done = self.run_text(tied.replace("1 MiB", "5 MiB"))
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("8 streams wait for one another in a circle: stream 's' of rank 0", done.stderr)
        at_once = ('{ exchange = { over = "pp", sends = [{ size = "1 MiB", to = 1 }], '
                   'receives = [{ size = "1 MiB", from = -1 }] } }')
        done = self.run_text(ring + f'[[stream]]\nname = "s"\nrun = [{at_once}]\n[strategy.now]\n')
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_messages_make_use_of_the_library(self):
        text = HEAD + ranks("first", "0-3", SEND) + ranks("second", "4-7", RECEIVE) + "[strategy.now]\n"
        (self.folder / "job.toml").write_text(text)
        keys = ["--set", "library.hop_latency=3 us", "--set", "library.pair_buffer=1 MiB"]
        self.assertNotIn("not used here", c3sim("run", "job.toml", *keys, folder=self.folder).stderr)
        (self.folder / "job.toml").write_text(HEAD + '[[stream]]\nname = "s"\nrun = [{ all_gather = "1 MiB" }]\n[strategy.now]\n')
        self.assertRegex(c3sim("run", "job.toml", *keys, folder=self.folder).stderr,
                         "note: library.pair_buffer: not used here: no rank sends messages\n")

    def test_a_schema_and_config_check_know_it(self):
        (self.folder / "job.toml").write_text(HEAD + ranks("a", "0-7", TIMED) + "[strategy.now]\n")
        done = c3sim("config", "check", "job.toml", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
