"""c3sim import of graphs of nodes: PyTorch execution traces, beside Kineto traces or alone, and Chakra traces."""

import csv
import gzip
import io
import json
import tarfile
import unittest

import h5py

from command import ScratchTest, c3sim
from graph_traces import chakra, chakra_node, chakra_step, execution_trace, kineto, message, node, varint


class Graphs(ScratchTest):
    def write(self, name, content):
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        (self.folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return name

    def report(self, *arguments):
        done = c3sim("import", *arguments, "--json", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def refuse(self, content, pattern, code=74):
        self.assert_one_line(c3sim("import", self.write("t", content), folder=self.folder), code, "^c3sim: t: " + pattern)

    def test_an_execution_trace_alone(self):
        report = self.report(self.write("t.anything", execution_trace()))
        self.assertEqual((report["format"], report["ranks"][0]["schema"]), ("PyTorch execution trace", "1.0.1"))
        self.assertEqual({row["name"]: (row["count"], row["with_shapes"]) for row in report["operators"]},
                         {"gemm": (1, 1), "collective": (1, 1)})
        self.assertEqual(report["shapes"], [{"operator": "aten::addmm", "class": "gemm", "dims": "[[8, 16], [32, 16], []]",
                                             "types": '["float", "float", "Scalar"]', "count": 1, "time_us": None}])
        collectives = report["collectives"]
        self.assertEqual([collectives[key] for key in ("issued", "specified", "waits", "waits_paired")], [1, 1, 1, 1])
        self.assertEqual(collectives["alike"], [{"kind": "all_reduce", "dtype": "float", "bytes": 4096, "group": "0", "group_size": 2,
                                                 "splits": None, "count": 1, "time_us": None}])
        text = c3sim("import", "t.anything", folder=self.folder).stdout
        self.assertIn("1 PyTorch execution trace, 6 nodes\n", text)
        self.assertIn("1 of 1 collectives have a known kind, size and group\n1 of 1 waits have their collective\n", text)

    def test_beside_kineto_traces_it_gives_shapes_and_collectives(self):
        for rank in (0, 1):
            self.write(f"kineto_{rank}.json", kineto(rank))
            self.write(f"et_{rank}.json.gz", execution_trace(rank) | {"pid": 100 + rank})
        (self.folder / "README.txt").write_text("not a trace")
        alone = self.report("kineto_0.json", "kineto_1.json")
        self.assertEqual(alone["collectives"]["specified"], 0)
        self.assertEqual(alone["ranks"][0]["gpu_time_with_shapes_us"], 0)
        self.assertEqual(alone["execution_traces"], [])
        report = self.report(".")
        self.assertEqual([join["file"] for join in report["execution_traces"]], ["./et_0.json.gz", "./et_1.json.gz"])
        self.assertEqual([report["execution_traces"][0][key] for key in ("rank", "by", "operators", "joined", "shapes_added", "collectives_added")],
                         [0, "order", 3, 3, 3, 1])
        self.assertEqual(report["ranks"][0]["gpu_time_with_shapes_us"], 100)
        self.assertEqual((report["collectives"]["specified"], report["collectives"]["matched_by_sequence"]), (2, 1))
        self.assertEqual(report["collectives"]["alike"][0]["bytes"], 4096)
        self.assertIn("execution traces joined with the Kineto trace of their rank\n", c3sim("import", ".", folder=self.folder).stdout)

    def test_splits_of_execution_traces_become_what_each_pair_of_ranks_moves(self):
        # Rows of 1 KiB: rank 0 keeps 1 and sends 3, rank 1 sends 2 and keeps 2.
        splits = {0: ([1, 3], [1, 2]), 1: ([2, 2], [3, 2])}
        for rank, its in splits.items():
            self.write(f"kineto_{rank}.json", kineto(rank, collective="ncclDevKernel_SendRecv"))
            self.write(f"et_{rank}.json", execution_trace(rank, its) | {"pid": 100 + rank})
        rows = {row["splits"]: row["bytes"] for row in self.report(".")["collectives"]["alike"]}
        self.assertEqual(rows, {"[1, 3] > [1, 2]": 4096, "[2, 2] > [3, 2]": 4096})
        done = c3sim("import", ".", "-o", "replay", "--system", "a100-sxm-80gb-8", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.folder / "replay/program.h5") as file:
            self.assertEqual(list(file["sends/bytes"]), [1024, 3072, 2048, 2048])
        self.write("et_1.json", execution_trace(1, ([2, 1], [3, 2])) | {"pid": 101})
        done = c3sim("import", ".", "-o", "other", "--system", "a100-sxm-80gb-8", folder=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("the in-splits of an all-to-all add up to 3 rows, which do not divide its 1024 elements", done.stderr)

    def test_they_are_joined_by_record_function_id_where_both_have_it(self):
        self.write("kineto.json", kineto(0, record_ids=True))
        self.write("et.json", execution_trace())
        join = self.report("kineto.json", "et.json")["execution_traces"][0]
        self.assertEqual((join["by"], join["joined"]), ("rf_id", 3))
        # Other ids, so of another step: by order.
        other = execution_trace()
        for entry in other["nodes"]:
            entry["rf_id"] += 1000
        self.write("et.json", other)
        join = self.report("kineto.json", "et.json")["execution_traces"][0]
        self.assertEqual((join["by"], join["joined"]), ("order", 3))

    def test_execution_traces_of_other_ranks_are_left_out_with_a_note(self):
        self.write("kineto_0.json", kineto(0))
        self.write("et_1.json", execution_trace(1) | {"pid": 9})
        done = c3sim("import", ".", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr),
                         (0, "note: execution traces without a Kineto trace of their rank are left out: ./et_1.json\n"))
        self.assertEqual(c3sim("import", ".", "-q", folder=self.folder).stderr, "")

    def test_an_execution_trace_of_another_run_is_doubted(self):
        self.write("kineto.json", kineto(0))
        self.write("et.json", {"nodes": [node(3, "aten::relu", 1)]})
        self.assertEqual(c3sim("import", "kineto.json", "et.json", folder=self.folder).stderr,
                         "note: et.json: only 0 of 3 operators of the Kineto trace are in it: it may be of another run\n")
        shaped = kineto(0)
        shaped["traceEvents"][1]["args"] |= {"Input Dims": [[4, 4]], "Input type": ["float"], "Concrete Inputs": [""]}
        self.write("kineto.json", shaped)
        self.write("et.json", execution_trace())
        self.assertEqual(c3sim("import", "kineto.json", "et.json", folder=self.folder).stderr,
                         "note: et.json: 1 operators have other shapes in the Kineto trace, which are kept: it may be of a step with other shapes\n")

    def test_chakra_counts_only_what_communicates(self):
        self.write("plain.et", chakra_step())
        self.write("packed", gzip.compress(chakra_step()))
        with tarfile.open(self.folder / "archive.tar.gz", "w:gz") as archive:
            archive.add(self.folder / "plain.et", arcname="run/plain.et")
        report = self.report("plain.et")
        self.assertEqual(report["format"], "Chakra trace")
        self.assertEqual(report["ranks"][0]["schema"], "1.0.1")
        self.assertEqual(report["collectives"]["alike"], [{"kind": "all_reduce", "dtype": None, "bytes": 4096, "group": "0",
                                                           "group_size": None, "splits": None, "count": 1, "time_us": 40}])
        self.assertEqual(report["collectives"]["specified"], 1)
        self.assertEqual(report["times"], {"host_us": 15, "compute_us": 30, "communication_us": 40})
        self.assertEqual(report["critical_path"], {"host_us": 10, "compute_us": 30, "communication_us": 40})
        self.assertEqual({row["dependency"]: row["count"] for row in report["dependencies"]},
                         {"control": 1, "data": 3, "on a node that is not in the file": 1})
        for name in ("packed", "archive.tar.gz"):
            same = self.report(name)
            self.assertEqual(same["ranks"][0].pop("file"), name + ("/run/plain.et" if "tar" in name else ""))
            self.assertEqual({**same, "ranks": 0}, {**report, "ranks": 0})

    def test_chakra_in_json_is_the_same(self):
        nodes = [{"Id": 1, "Name": "aten::mm", "NodeType": 4, "data_deps": [], "runtime": 10, "is_cpu_op": True},
                 {"id": "2", "name": "gemm", "type": "COMP_NODE", "dataDeps": ["1"], "durationMicros": "30", "is_cpu_op": False},
                 {"Id": 3, "Name": "nccl", "NodeType": 7, "data_deps": [2], "runtime": 40, "is_cpu_op": False, "comm_type": 2, "comm_size": 8}]
        report = self.report(self.write("t", {"workload_graph": nodes, "ngpus": 8}))
        self.assertEqual(report["critical_path"], {"host_us": 10, "compute_us": 30, "communication_us": 40})
        self.assertEqual([row["kind"] for row in report["collectives"]["alike"]], ["all_gather"])

    def test_every_table_is_printed_as_csv(self):
        self.write("et.json", execution_trace())
        self.write("t.et", chakra_step())
        for file in ("et.json", "t.et"):
            for table in ("ranks", "nodes", "operators", "shapes", "collectives", "dependencies", "times"):
                with self.subTest(file=file, table=table):
                    done = c3sim("import", file, "--csv", table, folder=self.folder)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    rows = list(csv.reader(io.StringIO(done.stdout)))
                    self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.assert_one_line(c3sim("import", "et.json", "--csv", "stragglers", folder=self.folder), 2,
                             r"^c3sim: --csv stragglers: these traces do not have such a table; they have ranks, nodes, ")

    def test_an_operator_list_stands_alone(self):
        for rank in (0, 1):
            self.write(f"kineto_{rank}.json", kineto(rank))
            self.write(f"et_{rank}.json", execution_trace(rank) | {"pid": 100 + rank})
        done = c3sim("import", ".", "--operators", "list", "--json", folder=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.splitlines()[0], "note: rank 0: listed operators launched 100.00 % of the GPU work by count, 100.00 % by time")
        report = self.report("list")
        self.assertEqual((report["format"], len(report["ranks"]), report["ranks"][0]["nodes"]), ("operator list", 2, 3))
        self.assertEqual({row["name"]: (row["count"], row["time_us"]) for row in report["operators"]}, {"gemm": (2, 100), "collective": (2, 100)})
        self.assertEqual([report["collectives"][key] for key in ("issued", "specified", "waits", "waits_paired")], [2, 2, 2, 2])
        # Obfuscated, it has the same figures; repeated and without a class, others.
        c3sim("import", "list", "--operators", "hidden", "--obfuscate", folder=self.folder)
        hidden = self.report("hidden")
        for key in ("operators", "nodes"):
            self.assertEqual(hidden[key], report[key])
        c3sim("import", "list", "list", "--operators", "long", "--repeat", "3", "--drop", "collective", "--scale-to", "4", folder=self.folder)
        self.assertEqual([(row["name"], row["count"]) for row in self.report("long")["operators"]], [("gemm", 2 * 3 * 4)])
        self.assertEqual(self.report("list", "list")["ranks"][0]["nodes"], 6)

    def write_ranks(self):
        for rank in (0, 1):
            self.write(f"kineto_{rank}.json", kineto(rank))
            self.write(f"et_{rank}.json", execution_trace(rank) | {"pid": 100 + rank})

    def run_bench(self, *sets, code=0):
        words = [word for value in sets for word in ("--set", value)]
        done = c3sim("run", "bench/experiment.toml", "-o", "out.h5", "--json", *words, folder=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return (json.loads(done.stdout)["strategies"][0]["time_us"] if code == 0 else None), done.stderr

    def test_a_benchmark_is_run_and_is_similar_to_its_trace(self):
        self.write_ranks()
        done = c3sim("import", ".", "-o", "bench", "--benchmark", "--system", "a100-sxm-80gb-8", "--similarity", "--json", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        similarity = json.loads(done.stdout)["similarity"]
        self.assertEqual([rank["rank"] for rank in similarity["ranks"]], [0, 1])
        figures = {row["figure"]: row for row in similarity["ranks"][0]["figures"]}
        # The operators begin at 5 and 100 us behind the step, their kernels take 50 us. In the benchmark a kernel starts 10 us behind
        # its operator. The all-reduce is modelled, and the product, whose factors do not fit, keeps its time.
        for name in ("gemm", "collective", "stream compute", "stream comm", "operator aten::addmm"):
            self.assertEqual((figures[name]["recorded"], round(figures[name]["replayed"], 6)), (50, 50), name)
        self.assertEqual(figures["gemm"]["ratio"], 1)
        self.assertLess(figures["collective"]["ratio"], 0.9)
        self.assertEqual((figures["step"]["recorded"], figures["step"]["replayed"]), (170, 160))
        self.assertEqual((figures["waiting for late ranks"]["recorded"], figures["transfer"]["recorded"]), (0, 50))
        self.assertEqual([(rank["work"], rank["covered"]) for rank in similarity["coverage"]], [(2, 2), (2, 2)])
        self.assertEqual(similarity["not_modelled"], [{"name": "aten::addmm", "reason": "a product without the shapes of both factors",
                                                       "count": 2, "recorded_us": 100}])
        recorded, _ = self.run_bench("trace.replay=recorded")
        modelled, notes = self.run_bench()
        self.assertAlmostEqual(recorded, 160, delta=10)
        self.assertLess(modelled, recorded)
        self.assertIn("note: trace: of the recorded GPU time and pieces of work 50.0 % (2 of 4) are modelled", notes)

    def test_tables_of_similarity_are_printed_as_text_and_csv(self):
        self.write_ranks()
        words = ["import", ".", "-o", "bench", "--system", "a100-sxm-80gb-8", "--similarity", "-q"]
        for benchmark in ([], ["--benchmark"]):
            for table in ("similarity", "not-modelled", "coverage"):
                with self.subTest(benchmark=benchmark, table=table):
                    done = c3sim(*words, *benchmark, "--csv", table, folder=self.folder)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    rows = list(csv.reader(io.StringIO(done.stdout)))
                    self.assertEqual({len(row) for row in rows}, {len(rows[0])})
            text = c3sim(*words, *benchmark, folder=self.folder).stdout
            self.assertRegex(text, r"\nrank 1: recorded and replayed, of one step\nfigure +unit +recorded +replayed +modelled +ratio\n")
        self.assertIn("\nGPU work that listed operators launched\n", text)

    def test_benchmarks_are_composed_without_a_program(self):
        self.write_ranks()
        c3sim("import", ".", "-o", "bench", "--benchmark", "--system", "a100-sxm-80gb-8", folder=self.folder)
        once, _ = self.run_bench("trace.replay=recorded")
        twice, _ = self.run_bench("trace.replay=recorded", "trace.repeat=2")
        both, _ = self.run_bench("trace.replay=recorded", 'trace.use=["bench/operators.json", "bench/operators.json"]')
        self.assertEqual(twice, both)
        self.assertGreater(twice, 1.5 * once)
        alone, _ = self.run_bench("trace.replay=recorded", 'trace.drop=["collective"]')
        self.assertLess(alone, once)
        more, _ = self.run_bench("trace.scale_to=4")
        less, _ = self.run_bench()
        self.assertGreater(more, less)
        # Obfuscated, it runs alike; written with changes, as if they were keys.
        c3sim("import", ".", "-o", "bench", "--benchmark", "--obfuscate", "--repeat", "2", "--system", "a100-sxm-80gb-8", folder=self.folder)
        self.assertEqual(self.run_bench("trace.replay=recorded")[0], twice)

    def test_an_execution_trace_alone_is_a_benchmark_without_times(self):
        self.write("et.json", execution_trace())
        refused = c3sim("import", "et.json", "-o", "bench", "--benchmark", folder=self.folder)
        self.assert_one_line(refused, 2, r"^c3sim: --benchmark requires --system where there are no Kineto traces")
        c3sim("import", "et.json", "-o", "bench", "--benchmark", "--system", "a100-sxm-80gb-8", folder=self.folder)
        listed = c3sim("import", "et.json", "-o", "bench", "--benchmark", "--system", "a100-sxm-80gb-8", "--csv", "not-modelled", "-q", folder=self.folder)
        self.assertEqual(listed.stdout, "name,reason,count,recorded [ms]\naten::addmm,a product without the shapes of both factors,1,-\n")
        time, notes = self.run_bench()
        self.assertGreater(time, 0)
        self.assertIn("note: trace: of the pieces of work 50.0 % (1 of 2) are modelled", notes)
        self.assertIn("note: trace: 1 of 2 kernels, copies and collectives take no time: the model has no rule for them, and no time was "
                      "recorded: aten::addmm (1)\n", notes)
        _, error = self.run_bench("trace.replay=recorded", code=3)
        self.assertRegex(error, r"trace\.replay: the operator list has no recorded times.*: use replay = \"modelled\"\n$")

    def test_what_a_benchmark_cannot_do_is_refused_at_its_key(self):
        self.write_ranks()
        c3sim("import", ".", "-o", "bench", "--benchmark", "--system", "a100-sxm-80gb-8", folder=self.folder)
        c3sim("import", ".", "-o", "program", "--system", "a100-sxm-80gb-8", folder=self.folder)
        for sets, pattern in ((["trace.drop=['magic']"], r"trace\.drop: unknown class 'magic'"),
                              (["trace.drop=[]"], r"trace\.drop: must be a list of some of gemm"),
                              (["trace.drop=['gemm', 'collective']"], r"trace\.drop: leaves no operators that do GPU work"),
                              (["trace.repeat=0"], r"trace\.repeat: "),
                              (["trace.use=[]"], r"trace\.use: must not be empty"),
                              (["trace.use=7"], r"trace\.use: must be the path of a file, or a list of paths"),
                              (["trace.use=nowhere.json"], r"trace\.use: .*nowhere\.json is not there or not a file"),
                              (["trace.use=['bench/operators.json', 'program/program.h5']"], r"trace\.use: .*program\.h5 is a program file, which runs alone"),
                              (["trace.use=program/program.h5", "trace.repeat=2"], r"trace\.repeat: requires an operator list"),
                              (["trace.scale_to=100000", "trace.repeat=1000"], r"trace\.repeat: makes a list of 300 million operators"),
                              (["trace.scale_to=16"], r"trace\.use: the trace has rank 15, the system 8 ranks")):
            with self.subTest(sets=sets):
                _, error = self.run_bench(*sets, code=3)
                self.assertRegex(error, r"^[^\n]*:\d+:\d+: " + pattern)
        uneven = json.loads((self.folder / "bench/operators.json").read_text())
        for operator in uneven["operators"]:
            if operator["rank"] == 1 and operator.get("bytes"):
                operator["bytes"] = 4
        self.write("bench/operators.json", uneven)
        _, error = self.run_bench(code=3)
        self.assertRegex(error, r"experiment\.toml:\d+:\d+: trace\.use: .*rank 1: event 1: its all_reduce of 4 B is matched with the all_reduce of 4096 B of rank 0")

    def test_options_of_benchmarks_need_each_other(self):
        self.write_ranks()
        for arguments, pattern in ((["--benchmark"], r"--benchmark requires"), (["--similarity"], r"--similarity requires"),
                                   (["--csv", "similarity"], r"--csv similarity requires --similarity"),
                                   (["--csv", "not-modelled"], r"--csv not-modelled requires -o"),
                                   (["--repeat", "2"], r"--repeat changes an operator list: it requires --operators or --benchmark"),
                                   (["-o", "b", "--benchmark", "--similarity", "--drop", "copy"], r"--similarity compares with the trace: it cannot be combined")):
            with self.subTest(arguments=arguments):
                self.assert_one_line(c3sim("import", ".", *arguments, folder=self.folder), 2, "^c3sim: .*" + pattern)
        self.assert_one_line(c3sim("import", "et_0.json", "-o", "b", "--benchmark", "--similarity", folder=self.folder), 2,
                             r"^c3sim: --similarity requires Kineto traces")
        self.assert_one_line(c3sim("import", "et_0.json", "-o", "b", "--benchmark", "--system", "a100-sxm-80gb-8", "--drop", "gemm", "--drop", "collective",
                                   folder=self.folder), 2, r"^c3sim: --benchmark: the operator list has no operators that do GPU work")
        self.assert_one_line(c3sim("import", "et_0.json", "-o", "b", folder=self.folder), 2, r"^c3sim: -o requires Kineto traces: .*--benchmark")

    def test_what_cannot_be_listed_is_refused(self):
        self.write("kineto.json", kineto(0))
        self.write("et.json", execution_trace())
        for arguments, code, pattern in ((["kineto.json", "--operators", "x"], 2, r"--operators and --benchmark require PyTorch execution traces or operator lists"),
                                         (["et.json", "--obfuscate"], 2, r"--obfuscate"),
                                         (["et.json", "--operators", "x", "--drop", "magic"], 2, r"--drop"),
                                         (["et.json", "--operators", "x", "--repeat", "0"], 2, r"--repeat"),
                                         (["et.json", "--operators", "x", "--drop", "collective", "--scale-to", "100000", "--repeat", "1000"], 2,
                                          r"--scale-to and --repeat make a list of 100 million operators; at most 20 are written"),
                                         (["et.json", "--operators", "et.json"], 2, r"et\.json"),
                                         (["et.json", "--operators", "nowhere/x"], 74, r"nowhere/x"),
                                         (["et.json", "--operators", "x", "--scale-to", "3"], 3, r"only those over all ranks can be scaled")):
            with self.subTest(arguments=arguments):
                self.assert_one_line(c3sim("import", *arguments, folder=self.folder), code, "^c3sim: .*" + pattern)
                self.assertFalse((self.folder / "x").exists())
        self.refuse({"format": "c3sim operators", "version": 9, "operators": []}, r"version 9 is not read, only versions 1 and 2$")

    def test_damaged_execution_traces_are_one_error_with_the_node(self):
        whole = json.dumps(execution_trace()).encode()
        self.refuse(whole[:700], r"event \d: the file ends before its JSON does: it is truncated$")
        self.refuse({"nodes": [{"name": "x"}]}, r"event 0: it has no id that is an integer from 0$")
        self.refuse({"nodes": [node(4, "a", 0), node(4, "b", 0)]}, r"event 1: event 0 has the id 4 as well$")
        self.refuse({"nodes": [node(4, "a", 5), node(5, "b", 4)]}, r"event \d: this node and its parents form a ring$")
        self.refuse(b'{"nodes":[' + b"[" * 100_000, r"event 0: it is nested deeper than 100 levels$")
        self.refuse({"nodes": [7]}, r"event 0: it is not a JSON object$")
        packed = gzip.compress(whole)
        self.refuse(packed[:len(packed) // 2], r"cannot unpack: the gzip data ends too early: it is truncated$")

    def test_damaged_chakra_traces_are_one_error_with_the_node(self):
        whole = chakra_step()
        self.refuse(whole[:-3], r"event 3: the file ends inside a message: it is truncated$")
        self.refuse(chakra(message((1, 1)), b"\x04\xff\xff\xff\xff"), r"event 1: it is not a Chakra node$")
        self.refuse(chakra(b"\xff" * 11), r"event 0: the length of a message has more than 10 bytes: it is not a Chakra trace$")
        self.refuse(chakra(varint(1 << 40)), r"event 0: a message of 1099511627776 bytes is longer than 64 MiB$")
        self.refuse(chakra(chakra_node(1, "a", 4, 1), chakra_node(1, "b", 4, 1)), r"event 1: event 0 has the id 1 as well$")
        self.refuse(chakra(chakra_node(1, "a", 4, 1, data=[2]), chakra_node(2, "b", 4, 1, data=[1])),
                    r"event 0: the nodes of this trace wait for each other in a ring$", 3)
        self.refuse(chakra(chakra_node(1, "a", 4, 1 << 60)), r"event 0: duration_micros: \d+ us is more than 50 days$")
        self.refuse(chakra(), r"it has no nodes$")
        self.refuse({"workload_graph": [{"Name": "x"}]}, r"event 0: it has no id$")
        self.refuse({"workload_graph": [{"Id": -1}]}, r'event 0: "-1" is not an id, which is an integer from 0$')

    def test_formats_and_ranks_that_do_not_fit_together_are_refused(self):
        self.write("kineto.json", kineto(0))
        self.write("et.json", execution_trace())
        self.write("t.et", chakra_step())
        for other in ("kineto.json", "et.json"):
            self.assert_one_line(c3sim("import", other, "t.et", folder=self.folder), 3,
                                 rf"^c3sim: t\.et: it is a Chakra trace, and {other} is a ")
        for name in ("a", "b"):
            self.write(name, execution_trace())
        self.assert_one_line(c3sim("import", "a", "b", folder=self.folder), 3, r"^c3sim: b: rank 0: a is of this rank as well$")
        self.assert_one_line(c3sim("import", "kineto.json", "a", "b", folder=self.folder), 3,
                             r"^c3sim: b: rank 0: a is the execution trace of this rank as well$")
        self.assert_one_line(c3sim("import", "t.et", "t.et", folder=self.folder), 3, r"neither its content nor its name says")
        big = execution_trace(5)
        big["nodes"][4]["inputs"][-1] = 8
        self.write("b", big)
        for name in ("a",):
            small = execution_trace(1)
            small["nodes"][4]["inputs"][-1] = 8
            self.write(name, small)
        self.assert_one_line(c3sim("import", "a", "b", folder=self.folder), 3, r"^c3sim: a: rank 1: 6 of the job's ranks are missing: 0, 2, 3, ")
        self.assertEqual(c3sim("import", "a", "b", "--allow-missing", folder=self.folder).returncode, 0)

    def test_of_a_folder_only_files_named_like_traces_must_be_whole(self):
        self.write("whole", kineto(0) | {"distributedInfo": {"rank": 0, "world_size": 1}})
        self.write("notes.txt", b"not a trace")
        self.write("half", json.dumps(kineto(1)).encode()[:300])
        done = c3sim("import", ".", "--csv", "ranks", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr),
                         (0, "note: left out: ./half: event 1: the file ends before its JSON does: it is truncated\n"))
        self.assertEqual(len(done.stdout.splitlines()), 2)
        (self.folder / "half").rename(self.folder / "half.json")
        self.assert_one_line(c3sim("import", ".", folder=self.folder), 74, r"^c3sim: \./half\.json: event 1: the file ends")

    def test_a_damaged_archive_is_refused(self):
        self.write("t.et", chakra_step())
        with tarfile.open(self.folder / "whole.tar", "w") as archive:
            archive.add(self.folder / "t.et", arcname="t.et")
        whole = (self.folder / "whole.tar").read_bytes()
        self.refuse(whole[:600], r"cannot unpack: the tar archive ends too early: it is truncated$")
        self.refuse(whole[:100] + b"\x01" + whole[101:], r"cannot unpack: a header of the tar archive is damaged$")
        with tarfile.open(self.folder / "twice.tar", "w") as archive:
            archive.add(self.folder / "whole.tar", arcname="whole.tar")
        self.assert_one_line(c3sim("import", "twice.tar", folder=self.folder), 74, r"it is an archive in an archive: unpack it first$")


if __name__ == "__main__":
    unittest.main()
