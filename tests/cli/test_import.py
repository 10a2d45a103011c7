"""c3sim import: reports on traces, and refuses what is none, twice or missing, with file, rank and event."""

import csv
import gzip
import io
import json
import unittest

from command import ScratchTest, c3sim


def launch(name, call, start, duration, correlation, stream=7):
    """A launch call of 5 us and its kernel; times in us."""
    return [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": call, "dur": 5,
             "args": {"correlation": correlation}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start, "dur": duration,
             "args": {"device": 0, "stream": stream, "correlation": correlation}}]


# Of the products: rows, columns, and what is summed.
PRODUCT = (2048, 1024, 512)


def product(call, start, correlation):
    m, n, k = PRODUCT
    operator = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": call - 2, "dur": 10,
                "args": {"Input Dims": [[m, k], [k, n]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}}
    return [operator, *launch("ampere_gemm", call, start, 50, correlation)]


def all_reduce(sequence, call, start, end, correlation):
    call, kernel = launch("ncclDevKernel_Generic", call, start, end - start, correlation, 20)
    kernel["args"] |= {"Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 2,
                       "dtype": "BFloat16", "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": sequence}
    return [call, kernel]


def trace(rank, late=0.0, world=2):
    """A step of 1 ms with two collectives, which end at 300 and 700 us on all ranks."""
    step = {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1000, "args": {}}
    events = [step, *product(10, 20, 1), *all_reduce(1, 100 + late, 110 + late, 300, 2),
              *product(400, 410, 3), *all_reduce(2, 500, 510, 700, 4)]
    gpu = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108, "totalGlobalMem": 85174583296}
    return {"deviceProperties": [gpu], "distributedInfo": {"rank": rank, "world_size": world}, "traceEvents": events}


class Import(ScratchTest):
    def write(self, name, content):
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        path = self.folder / name
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return path

    def write_run(self):
        self.write("rank0.json.gz", trace(0))
        self.write("rank1.json", trace(1, late=40.0))

    def report(self, *arguments):
        done = c3sim("import", *arguments, "--json", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_a_folder_of_ranks_is_reported_on_as_one_run(self):
        self.write_run()
        report = self.report(".")
        self.assertEqual(report["schema_version"], 1)
        self.assertEqual([rank["rank"] for rank in report["ranks"]], [0, 1])
        self.assertEqual(report["ranks"][0]["gpu"], "NVIDIA A100-SXM4-80GB")
        collectives = report["collectives"]
        self.assertEqual((collectives["kernels"], collectives["specified"], collectives["matched_by_sequence"]), (4, 4, 2))
        # Rank 1 is 40 us late once: 150 to 300 us; then 510 to 700 us.
        self.assertEqual((collectives["true_cost_us"], collectives["waiting_us"], collectives["waiting_at_least_us"]), (150 + 190, 40, 0))
        self.assertEqual(collectives["alike"][0]["bytes"], 2048)
        self.assertEqual(collectives["alike"][0]["true_cost_median_us"], 150)
        self.assertEqual(report["stragglers"][0]["last"] + report["stragglers"][-1]["last"], 2)
        replay = report["replay"]["with_cross_stream_edges"]
        self.assertEqual((replay["step_error"], replay["start_error_worst"]), (0, 0))
        self.assertEqual([row["step_us"] for row in report["bounds"][:3]], [1000, 1000, 20])

    def test_text_says_what_binds_the_step_and_who_is_late(self):
        self.write_run()
        done = c3sim("import", "rank0.json.gz", "rank1.json", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("2 ranks on NVIDIA A100-SXM4-80GB\n", done.stdout)
        self.assertIn("4 of 4 collective kernels have a known kind, size and group\n", done.stdout)
        self.assertIn("true cost, from the latest start to the end: 0.340 ms", done.stdout)
        self.assertIn("the hosts bind this step", done.stdout)

    def test_the_trace_of_one_rank_gives_upper_bounds_and_says_so(self):
        self.write("rank1.json", trace(1, late=40.0))
        done = c3sim("import", "rank1.json", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("upper bounds", done.stdout)
        report = self.report("rank1.json")
        self.assertEqual(report["missing_ranks"], [0])
        self.assertTrue(report["collectives"]["upper_bounds"])
        self.assertIsNone(report["collectives"]["true_cost_us"])
        self.assertEqual([report["collectives"][key] for key in ("waiting_us", "unmatched_us", "waiting_at_least_us")], [None, 340, 40])

    def test_a_replay_of_one_rank_says_what_of_its_collectives_was_waiting(self):
        self.write("rank1.json", trace(1, late=40.0))
        c3sim("import", "rank1.json", "-o", "replay", "--system", "a100-sxm-80gb-8", folder=self.folder)
        notes = {mode: c3sim("run", "replay/experiment.toml", "-o", "out.h5", "--set", f"trace.replay={mode}", folder=self.folder).stderr
                 for mode in ("recorded", "modelled")}
        said = ("note: trace: one rank recorded 2 collectives alone: 0.340 ms, of which at least 0.040 ms, and at most what the transfer "
                "leaves, was waiting for late ranks; ")
        self.assertIn(said + "this replay keeps it\n", notes["recorded"])
        self.assertIn(said + "2 of them take the time of the model's transfer and no waiting\n", notes["modelled"])

    def test_every_table_is_printed_as_csv(self):
        self.write_run()
        for table in ("ranks", "classes", "collectives", "unspecified", "stragglers", "edges", "unexplained", "bounds", "errors"):
            with self.subTest(table=table):
                done = c3sim("import", ".", "--csv", table, folder=self.folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                rows = list(csv.reader(io.StringIO(done.stdout)))
                self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        rows = list(csv.DictReader(io.StringIO(c3sim("import", ".", "--csv", "classes", folder=self.folder).stdout)))
        self.assertEqual({row["class"]: row["count"] for row in rows}, {"gemm": "4", "collective": "4"})

    def test_a_rank_is_taken_from_the_name_of_a_file_that_does_not_say_it(self):
        for rank in (0, 1):
            self.write(f"trace_rank{rank}.json", {key: value for key, value in trace(rank).items() if key != "distributedInfo"})
        self.assertEqual([rank["rank"] for rank in self.report(".")["ranks"]], [0, 1])

    def test_what_is_no_trace_is_one_error_that_names_file_and_event(self):
        whole = json.dumps(trace(0)).encode()
        self.write("cut.json", whole[:600])
        packed = self.write("cut.json.gz", whole)
        packed.write_bytes(packed.read_bytes()[:200])
        self.write("foreign.json", {"name": "x", "list": [1, 2]})
        self.write("et.json", {"schema": "1.0.1", "nodes": []})
        self.write("kineto.json", {"traceEvents": []})
        self.write("binary", bytes(range(256)))
        self.write("deep.json", b'{"traceEvents":[' + b"[" * 100_000)
        self.write("bad.json", {"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": "now", "dur": 1}]})
        self.write("empty.json", b"")
        (self.folder / "folder").mkdir()
        for name, pattern in {"cut.json": r"^c3sim: cut\.json: event \d: the file ends before its JSON does: it is truncated$",
                              "cut.json.gz": r"^c3sim: cut\.json\.gz: cannot unpack: the gzip data ends too early: it is truncated$",
                              "foreign.json": r"^c3sim: foreign\.json: it has no \"traceEvents\" of a Kineto trace, .* of a Chakra trace$",
                              "kineto.json": r"^c3sim: kineto\.json: it has no traceEvents: it is not a Kineto trace$",
                              "et.json": r"^c3sim: et\.json: its \"nodes\" are empty$",
                              "binary": r"^c3sim: binary: it does not begin with \{ or \[, nor as a Chakra trace does: it is not a trace$",
                              "deep.json": r"^c3sim: deep\.json: event 0: it is nested deeper than 100 levels$",
                              "bad.json": r"^c3sim: bad\.json: event 0: ts: \"now\" is not a number of microseconds$",
                              "empty.json": r"^c3sim: empty\.json: the file ends before",
                              "nowhere.json": r"^c3sim: nowhere\.json: cannot read: No such file or directory$",
                              "folder": r"^c3sim: folder: cannot import: it holds no traces$"}.items():
            with self.subTest(file=name):
                self.assert_one_line(c3sim("import", name, folder=self.folder), 74, pattern)

    def test_ranks_that_do_not_fit_together_are_refused(self):
        self.write("a.json", trace(0, world=4))
        self.write("b.json", trace(0, world=4))
        self.write("c.json", trace(1, world=4))
        self.write("none.json", {key: value for key, value in trace(0).items() if key != "distributedInfo"})
        self.assert_one_line(c3sim("import", "a.json", "b.json", folder=self.folder), 3,
                             r"^c3sim: b\.json: rank 0: a\.json is of this rank as well$")
        self.assert_one_line(c3sim("import", "a.json", "c.json", folder=self.folder), 3,
                             r"^c3sim: a\.json: rank 0: 2 of the job's ranks are missing: 2, 3; .*--allow-missing$")
        self.assert_one_line(c3sim("import", "a.json", "none.json", folder=self.folder), 3,
                             r"^c3sim: none\.json: neither its content nor its name says of which rank it is")
        self.assertEqual(c3sim("import", "a.json", "c.json", "--allow-missing", folder=self.folder).returncode, 0)
        self.assertEqual(c3sim("import", "none.json", folder=self.folder).returncode, 0)

    def test_collectives_of_different_size_do_not_match(self):
        other = trace(1)
        other["traceEvents"][5]["args"] |= {"In msg nelems": 7, "Out msg nelems": 7}
        self.write("a.json", trace(0))
        self.write("b.json", other)
        self.assert_one_line(c3sim("import", "a.json", "b.json", folder=self.folder), 3,
                             r"^c3sim: b\.json: rank 1: event 5: all_reduce of 14 B is matched with all_reduce of 2048 B of rank 0")

    def test_usage_errors_end_with_2(self):
        self.write_run()
        for arguments in ([], [".", "--csv", "nosuch"], [".", "--csv", "ranks", "--json"], [".", "--system", "h100-sxm-8"]):
            with self.subTest(arguments=arguments):
                self.assert_one_line(c3sim("import", *arguments, folder=self.folder), 2, r"^c3sim: .+")


class Program(ScratchTest):
    """The program that an import writes, and its replay in the simulator."""

    def write_run(self):
        for rank in range(2):
            (self.folder / f"rank{rank}.json").write_text(json.dumps(trace(rank, late=40.0 * rank)))

    def import_run(self, *arguments):
        self.write_run()
        return c3sim("import", "rank0.json", "rank1.json", "-o", "replay", *arguments, folder=self.folder)

    def simulate(self, *arguments):
        done = c3sim("run", "replay/experiment.toml", "-o", "out.h5", "--json", *arguments, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["strategies"]

    def test_a_run_is_written_and_simulated_as_recorded(self):
        done = self.import_run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("steps within 0.0000 %, starts of kernels within 0.0000 % (median)", done.stderr)
        text = (self.folder / "replay/experiment.toml").read_text()
        self.assertIn('system = "a100-sxm-80gb-8"', text)
        # The last collective ends 700 us after the first event.
        self.assertAlmostEqual(self.simulate()[0]["time_us"], 700.0, places=3)
        # No machine changes what was recorded.
        self.assertAlmostEqual(self.simulate("--set", "system=mi300x-8")[0]["time_us"], 700.0, places=3)

    def test_a_slow_gpu_takes_longer_for_its_kernels(self):
        self.import_run()
        slow = self.simulate("--set", "straggler.hot={ ranks = [0], factor = 4.0 }")
        # Its second GEMM ends at 410 + 4 x 50 us; the all-reduce behind it takes 190 us, with a latency before.
        self.assertGreater(slow[0]["time_us"], 800.0)
        self.assertLess(slow[0]["time_us"], 815.0)

    def test_inspect_shows_what_was_recorded(self):
        self.import_run()
        shown = c3sim("inspect", "replay/program.h5", folder=self.folder)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("2 of 2 ranks; streams stream7, stream20; 2 collectives of several ranks", shown.stdout)
        document = json.loads(c3sim("inspect", "replay/program.h5", "--json", folder=self.folder).stdout)
        self.assertEqual([rank["work"] for rank in document["ranks"]], [4, 4])
        self.assertEqual(document["ranks"][0]["classes"]["collective"]["count"], 2)
        self.assertNotIn("not known what it computes", shown.stdout)  # collectives of known kind and size
        self.assertEqual(document["without_operator"], [])
        refused = c3sim("inspect", "replay/program.h5", "--table", "activities", folder=self.folder)
        self.assertEqual(refused.returncode, 2)

    def test_tables_are_readable_with_h5py(self):
        import h5py
        self.import_run()
        with h5py.File(self.folder / "replay/program.h5") as file:
            self.assertEqual((file.attrs["schema"], file.attrs["schema_version"]), ("c3sim.program", "1.3.0"))
            names = file["names"].asstr()[:]
            work = {name: column[:] for name, column in file["work"].items()}
            self.assertEqual(work["start"].dtype.kind, "i")
            first = work["rank"] == 0
            self.assertEqual(sorted(work["duration"][first]), [50_000_000, 50_000_000, 150_000_000, 190_000_000])
            self.assertEqual(set(names[work["name"]]), {"ampere_gemm", "ncclDevKernel_Generic"})
            self.assertEqual(list(file["collectives/bytes"][:]), [2048, 2048])
            self.assertEqual(file["work/start"].attrs["units"], "ps")
            product = work["operator"][work["class"] == 0][0]
            self.assertEqual((file["operators/op"].asstr()[product], file["operators/dtype"].asstr()[product]), ("gemm", "bf16"))
            self.assertEqual([file[f"operators/{key}"][product] for key in "bmnk"], [1, *PRODUCT])
            self.assertEqual(file["operators/heads"][product], -1)
            reasons = {names[file["operators/note"][row]] for row in work["operator"][work["class"] == 4]}
            self.assertEqual(reasons, {"a collective: its time is the network's"})

    def test_what_has_a_shape_is_modelled_on_another_machine(self):
        done = self.import_run()
        self.assertIn("100.0 % (8 of 8) are modelled", done.stderr)
        as_recorded = self.simulate("-q")[0]["time_us"]
        times = {}
        for system in ("a100-sxm-80gb-8", "h100-sxm-8"):
            for classes in (["gemm"], ["collective"], ["gemm", "collective"]):
                times[system, *classes] = self.simulate("--set", "system=" + system, "--set", "trace.replay=mixed", "--set", f"trace.model={json.dumps(classes)}")
            everything = self.simulate("--set", "system=" + system, "--set", "trace.replay=modelled")
            self.assertEqual(everything[0]["time_us"], times[system, "gemm", "collective"][0]["time_us"])
        step = {key: value[0]["time_us"] for key, value in times.items()}
        # The all-reduce is at the end, and takes 190 us where the model of 2 kB says some: the products are before it, and the host
        # launches the second one long after the first has ended.
        self.assertEqual(step["a100-sxm-80gb-8", "gemm"], as_recorded)
        self.assertLess(step["a100-sxm-80gb-8", "collective"], as_recorded - 100.0)
        busy = {key: value[0]["classes"][0]["kernels_us"] for key, value in times.items()}
        self.assertAlmostEqual(busy["h100-sxm-8", "collective"], 100.0, places=6)
        self.assertGreater(busy["a100-sxm-80gb-8", "gemm"], 1.5 * busy["h100-sxm-8", "gemm"])

    def test_a_run_says_how_much_is_modelled(self):
        self.import_run()
        for replay, expected in ((("modelled",), ["100.0 % (8 of 8) are modelled"]), (("recorded",), []),
                                 (("mixed", 'trace.model=["gemm"]'),
                                  ["(4 of 8) are modelled", "0.0 % (0 of 8) keep their recorded time", "(4 of 8) because replay does not model their class"])):
            with self.subTest(replay=replay):
                sets = [word for value in ("trace.replay=" + replay[0], *replay[1:]) for word in ("--set", value)]
                done = c3sim("run", "replay/experiment.toml", "-o", "out.h5", *sets, folder=self.folder)
                self.assertEqual((done.returncode, done.stderr.count("note: trace: ")), (0, 1 if expected else 0), done.stderr)
                for text in expected:
                    self.assertIn(text, done.stderr)

    def test_an_operator_of_a_size_that_no_table_has_keeps_its_time(self):
        content = trace(0, world=1)
        for event in content["traceEvents"]:
            if event["name"] == "aten::mm":
                event["args"]["Input Dims"] = [[1 << 41, 1], [1, 1]]
        (self.folder / "rank0.json").write_text(json.dumps(content))
        done = c3sim("import", "rank0.json", "-o", "replay", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("79.2 % (2 of 4) are modelled, 0.0 % (0 of 4) are in another kernel's time, 20.8 % (2 of 4) keep", done.stderr)
        self.assertIn("m must be at most 2^40", c3sim("inspect", "replay/program.h5", folder=self.folder).stdout)

    def test_a_file_of_before_operators_is_replayed_as_recorded(self):
        import h5py
        self.import_run()
        path = self.folder / "replay/program.h5"
        with h5py.File(path, "r+") as file:
            del file["operators"], file["work/operator"]
            file.attrs["schema_version"] = "1.0.0"
        content = path.read_bytes()
        path.write_bytes(bytes(512) + content[512:])
        self.assertAlmostEqual(self.simulate()[0]["time_us"], 700.0, places=3)
        done = c3sim("run", "replay/experiment.toml", "-o", "out.h5", "--set", "trace.replay=modelled", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("(4 of 8) keep their recorded time", done.stderr)  # collectives say what they are

    def test_an_operator_that_is_none_is_refused(self):
        import h5py
        for column, value, message in (("op", "gem", "'gem'"), ("m", 0, "m must be at least 1"), ("note", 99, "points to what is not there")):
            self.import_run("--force")
            path = self.folder / "replay/program.h5"
            with h5py.File(path, "r+") as file:
                product = list(file["operators/op"].asstr()[:]).index("gemm")
                file["operators"][column][product] = value
            content = path.read_bytes()
            path.write_bytes(bytes(512) + content[512:])
            with self.subTest(column=column):
                done = c3sim("run", "replay/experiment.toml", folder=self.folder)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (74, 1), done.stderr)
                self.assertIn(message, done.stderr)

    def test_a_damaged_program_is_one_error(self):
        self.import_run()
        path = self.folder / "replay/program.h5"
        whole = path.read_bytes()
        for damaged in (whole[:-1000], whole[:4000] + b"?" + whole[4001:], b"no HDF5 at all"):
            path.write_bytes(damaged)
            for arguments in (("run", "replay/experiment.toml"), ("inspect", "replay/program.h5")):
                with self.subTest(arguments=arguments, size=len(damaged)):
                    done = c3sim(*arguments, folder=self.folder)
                    self.assertEqual(done.returncode, 74, done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                    self.assertIn("program.h5", done.stderr)

    def test_rows_that_point_to_nothing_are_refused(self):
        import h5py
        for table, column, value in (("work", "launch", 1000), ("work", "stream", 7), ("edges", "source", -1), ("work", "duration", -1),
                                     ("threads", "name", 99), ("members", "rank", 5), ("work", "collective", 1)):
            self.import_run()
            path = self.folder / "replay/program.h5"
            with h5py.File(path, "r+") as file:
                if len(file[table][column]) == 0:
                    continue
                file[table][column][0] = value
            content = path.read_bytes()
            path.write_bytes(bytes(512) + content[512:])  # as a file that another program has changed
            with self.subTest(table=table, column=column):
                done = c3sim("run", "replay/experiment.toml", folder=self.folder)
                self.assertEqual(done.returncode, 74, done.stderr)
                self.assertIn("import the traces again", done.stderr)

    def test_what_is_wrong_in_the_experiment_has_its_place(self):
        self.import_run()
        path = self.folder / "replay/experiment.toml"
        text = path.read_text()
        for before, after, message in (('"program.h5"', '"absent.h5"', ":9:10: trace.use: "),
                                       ('"recorded" ', '"frozen" ', ":10:10: trace.replay: "),
                                       ('"recorded" ', '"mixed" ', ":10:10: trace.replay: mixed requires model, a list of some of gemm, "),
                                       ('"recorded" ', '"mixed"\nmodel = ["gemm", "copy"]\n#', ":11:18: trace.model: unknown class 'copy'; known: gemm, "),
                                       ('"recorded" ', '"mixed"\nmodel = []\n#', ":11:9: trace.model: must be a list of some of gemm, "),
                                       ('"recorded" ', '"mixed"\nmodel = "gemm"\n#', ":11:9: trace.model: must be a list of some of gemm, "),
                                       ('"recorded" ', '"modelled"\nmodel = ["gemm"]\n#', ':11:9: trace.model: requires replay = "mixed"'),
                                       ('"recorded" ', '"recorded"\nmodel = ["gemm"]\n#', ':11:9: trace.model: requires replay = "mixed"'),
                                       ("[measure]", "[[stream]]\nname = \"s\"\nrun = [{ timed = \"1 us\" }]\n[measure]", "trace: "),
                                       ('system = "a100-sxm-80gb-8"', 'system = "gh200-1"', "the trace has rank 1, the system 1 rank:")):
            path.write_text(text.replace(before, after))
            done = c3sim("config", "check", "replay/experiment.toml", folder=self.folder)
            with self.subTest(after=after):
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(message, done.stderr)

    def test_outputs_never_replace_inputs(self):
        self.import_run()
        done = c3sim("run", "replay/experiment.toml", "-o", "replay/program.h5", folder=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(json.loads(c3sim("inspect", "replay/program.h5", "--json", folder=self.folder).stdout)["world_size"], 2)

    def test_a_system_that_is_not_known_is_asked_for(self):
        content = trace(0)
        content["deviceProperties"][0] |= {"name": "", "numSms": 77}
        content["distributedInfo"]["world_size"] = 1
        (self.folder / "rank0.json").write_text(json.dumps(content))
        done = c3sim("import", "rank0.json", "-o", "replay", folder=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--system", done.stderr)
        done = c3sim("import", "rank0.json", "-o", "replay", "--system", "h100-sxm-8", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
