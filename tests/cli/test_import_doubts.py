"""c3sim import: what a trace says that cannot be, or does not say, is named in one line and read as well as it can be."""

import io
import json
import tarfile
import unittest

from command import ScratchTest, c3sim
from test_import import all_reduce, launch, trace


def events_of(events, rank=0, world=1):
    gpu = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108, "totalGlobalMem": 85174583296}
    return {"deviceProperties": [gpu], "distributedInfo": {"rank": rank, "world_size": world}, "traceEvents": events}


def step(length):
    return {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": length, "args": {}}


def pageable_copy():
    """A call of 33 us that begins a copy of 1 us in its last 2 us."""
    call, copy = launch("Memcpy HtoD (Pageable -> Device)", 1000, 1031, 1, 7)
    call |= {"name": "cudaMemcpyAsync", "dur": 33}
    return [call, copy | {"cat": "gpu_memcpy"}]


def products(durations):
    """Launched 10 us apart; the GPU begins one each 210 us."""
    return [event for i, duration in enumerate(durations) for event in launch("ampere_gemm", 10 * i, 15 + 210 * i, duration, i + 1)]


class Doubts(ScratchTest):
    def write(self, name, events, **job):
        (self.folder / name).write_text(json.dumps(events_of(events, **job)))

    def imported(self, *arguments):
        done = c3sim("import", *arguments, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def replayed_ms(self):
        """What a run of the import takes."""
        self.imported("t.json", "-o", "replay", "--system", "a100-sxm-80gb-8", "-q")
        done = c3sim("run", "replay/experiment.toml", "-o", "out.h5", "--json", "-q", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["strategies"][0]["time_us"] / 1e3

    def test_a_copy_that_ends_before_its_call_returns_is_imported(self):
        self.write("t.json", [step(3000), *pageable_copy()])
        report = json.loads(self.imported("t.json", "--json").stdout)
        self.assertEqual(report["replay"]["with_cross_stream_edges"]["start_error_worst"], 0)
        self.assertEqual(report["edges"]["host_waits"]["copy"], 0)

    def test_events_that_wait_for_each_other_are_named_whether_a_replay_is_written_or_not(self):
        for rank, order in ((0, (1, 2)), (1, (2, 1))):
            events = [*all_reduce(order[0], 100, 110, 200, 1), *all_reduce(order[1], 300, 310, 400, 2)]
            self.write(f"rank{rank}.json", events, rank=rank, world=2)
        for more in ([], ["-o", "replay", "--system", "a100-sxm-80gb-8"]):
            done = c3sim("import", "rank0.json", "rank1.json", *more, folder=self.folder)
            self.assert_one_line(done, 3, r"^c3sim: rank\d\.json: rank \d: event \d: events of this run wait for each other in a ring: ")
            for file in ("rank0.json", "rank1.json"):
                for event, date in ((1, 110), (3, 310)):
                    self.assertIn(f"'ncclDevKernel_Generic' ({file}, event {event}, ts {date}.000)", done.stderr)

    def test_a_duration_beyond_what_follows_on_its_stream_is_cut_and_named(self):
        self.write("t.json", [step(3000), *products([200, 200, 1.6e6, 200, 200])])
        done = self.imported("t.json")
        self.assertEqual(done.stderr, "note: t.json: 1 impossible duration, negative or beyond later work of the stream, is cut: "
                                      "event 6 'ampere_gemm' from 1600000.000 to 210.000 us\n")
        self.assertAlmostEqual(self.replayed_ms(), 0.015 + 4 * 0.21 + 0.2, delta=1e-6)  # 1601 as recorded

    def test_negative_durations_are_counted_and_three_of_them_named(self):
        self.write("t.json", [step(3000), *products([-1, -2, -3, -4, 200])])
        self.assertRegex(self.imported("t.json").stderr, r"^note: t\.json: 4 impossible durations, .* are cut: event 2 'ampere_gemm' from -1\.000 to "
                                                         r"0\.000 us, event 4 .*, event 6 [^,]* and 1 more\n$")

    def test_a_file_of_two_processes_says_that_it_is_read_as_one_rank(self):
        other = [event | {"pid": event["pid"] + 10} for event in products([200])]
        self.write("t.json", [*products([200, 200]), *other])
        self.assertEqual(self.imported("t.json").stderr, "note: t.json: its calls are of 2 processes (1, 11), so that it holds several ranks, and it is "
                                                         "read as one: give each rank its own file\n")

    def test_a_trace_without_gpu_work_says_so_and_what_is_not_read(self):
        events = [{"ph": "X", "cat": "mtia_ccp_events", "name": "fc", "pid": 0, "tid": 0, "ts": i, "dur": 1} for i in range(3)]
        events += [{"ph": "X", "name": "jit", "pid": 0, "tid": 0, "ts": 5, "dur": 1}]
        self.write("t.json", events)
        done = self.imported("t.json")
        self.assertEqual(done.stderr, "note: t.json: none of its 4 events is a kernel, copy or memset of a CUDA or HIP GPU; events that are not read: "
                                      "3 of 'mtia_ccp_events', 1 without a category\n")
        self.assertTrue(done.stdout.startswith("1 rank without GPU work\n"))

    def test_what_macos_adds_to_archives_and_folders_is_passed_over(self):
        text = json.dumps(trace(0)).encode()
        with tarfile.open(self.folder / "t.tar.gz", "w:gz") as archive:
            for name, content in (("run/._rank0.json", bytes(range(200))), ("run/rank0.json", text)):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        self.assertIn("1 rank on NVIDIA A100-SXM4-80GB\n", self.imported("t.tar.gz").stdout)
        (self.folder / "folder").mkdir()
        (self.folder / "folder/rank0.json").write_bytes(text)
        (self.folder / "folder/._rank0.json").write_bytes(bytes(range(200)))
        self.assertEqual(self.imported("folder").stderr, "")

    def test_of_some_ranks_of_a_job_costs_are_upper_bounds(self):
        for rank in (0, 1):
            content = trace(rank, late=40.0 * rank, world=8)
            for event in content["traceEvents"]:
                if "Group size" in event["args"]:
                    event["args"] |= {"Group size": 8, "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]"}
            (self.folder / f"rank{rank}.json").write_text(json.dumps(content))
        done = self.imported(".", "--allow-missing")
        self.assertIn("2 of them lack ranks that are not here and may have come later: they cost at most 0.340 ms\n", done.stdout)
        self.assertNotIn("true cost", done.stdout)
        collectives = json.loads(self.imported(".", "--allow-missing", "--json").stdout)["collectives"]
        self.assertTrue(collectives["upper_bounds"])
        self.assertEqual([collectives[key] for key in ("true_cost_us", "cost_at_most_us", "waiting_us", "waiting_at_least_us")], [None, 340, None, 40])

    def test_collectives_without_a_group_are_communication_of_the_run(self):
        events = [step(1000), *products([200]), *all_reduce(1, 400, 410, 900, 9)]
        events[-1]["args"] = {"device": 0, "stream": 20, "correlation": 9}
        self.write("t.json", events, world=0)
        self.imported("t.json", "-o", "replay", "--system", "a100-sxm-80gb-8", "-q")
        done = c3sim("run", "replay/experiment.toml", "-o", "out.h5", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("nothing communicates", done.stdout)
        self.assertIn("54.4% in exposed communication", done.stdout)  # 490 of 900 us


if __name__ == "__main__":
    unittest.main()
