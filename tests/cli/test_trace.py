"""`--trace` writes what Perfetto and HolisticTraceAnalysis (HTA) read, and it says the same as the HDF5 file."""

import collections
import functools
import json
import pathlib
import re
import resource
import tempfile
import unittest

import h5py
import numpy as np

from command import MAIN_JOB, SOURCE, ScratchTest, c3sim

QUICK = ["--set", "measure.seeds=1", "--set", "measure.loss_split=false", "-q"]
GATHERED = 896 * 2**20  # bytes of the main job's all-gather
GPUS = 8
PICOSECONDS = 1e6  # in a microsecond
LAUNCHES = ("cudaLaunchKernel", "cudaMemcpyAsync")
HTA_RANK = re.compile(r'"rank":\s+(\d+)')  # as HTA looks for it, line by line
HTA_COMMUNICATION = re.compile(r"(^nccl.*)|(.*ncclKernel.*)")

EVENTS = """
schema = 1
system = "mi300x-8"
[[stream]]
name = "compute"
run = [{ gemm = { m = 2048, n = 2048, k = 2048, dtype = "bf16" } }, { record = "first" },
       { gemm = { m = 2048, n = 2048, k = 2048, dtype = "bf16" } }]
[[stream]]
name = "comm"
run = [{ wait = "first" }, { all_gather = "8 MiB" }, { all_to_all = "8 MiB" }]
[strategy.ring]
comm.algorithm = "ring"
[strategy."direct_dma"]
comm.backend = "dma"
[measure]
loss_split = false
"""


def picoseconds(microseconds):
    return round(microseconds * PICOSECONDS)


class Trace:
    """One file, its events by phase."""

    def __init__(self, path):
        self.text = path.read_text()
        self.top = json.loads(self.text)
        self.events = self.top["traceEvents"]

    def of(self, phase, *categories):
        return [event for event in self.events
                if event["ph"] == phase and (not categories or event["cat"] in categories)]

    def tracks(self):
        """(start, end) in ps of the slices of each track."""
        tracks = collections.defaultdict(list)
        for event in self.of("X"):
            start = picoseconds(event["ts"])
            tracks[event["pid"], event["tid"]].append((start, start + picoseconds(event["dur"])))
        return tracks


def overlaps(slices):
    """Pairs that cross: neither one after the other nor one inside the other."""
    open_ends, crossing = [], []
    for start, end in sorted(slices, key=lambda slice: (slice[0], -slice[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            crossing.append((start, end))
        open_ends.append(end)
    return crossing


def for_each_strategy(test):
    """The test, once for every strategy: test(self, its trace, its group of the HDF5 file)."""
    @functools.wraps(test)
    def all_strategies(self):
        for name, trace in self.traces.items():
            with self.subTest(strategy=name):
                test(self, trace, self.file["strategies"][name])
    return all_strategies


class TraceTest(unittest.TestCase):
    def assert_nests(self, trace):
        tracks = trace.tracks()
        self.assertGreater(len(tracks), 2)
        for track, slices in tracks.items():
            self.assertEqual(overlaps(slices), [], track)

    def assert_arrows_pair_up(self, trace):
        """Every arrow has two ends inside slices, and every kernel and copy has one."""
        tracks = trace.tracks()
        starts, ends = trace.of("s", "ac2g"), trace.of("f", "ac2g")
        self.assertEqual(sorted(event["id"] for event in starts), sorted(event["id"] for event in ends))
        self.assertEqual({event["bp"] for event in ends}, {"e"})
        for event in starts + ends:
            date = picoseconds(event["ts"])
            self.assertTrue(any(start <= date <= end for start, end in tracks[event["pid"], event["tid"]]), event)
        self.assertEqual(len(starts), len(trace.of("X", "kernel", "gpu_memcpy")))
        self.assertLessEqual({event["args"]["correlation"] for event in trace.of("X", "kernel")},
                             {event["id"] for event in starts})


class MainJob(TraceTest):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="c3sim trace ")
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        done = c3sim("run", MAIN_JOB, *QUICK, "-o", folder / "run.h5", "--trace", folder / "traces")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.file = h5py.File(folder / "run.h5")
        cls.addClassCleanup(cls.file.close)
        cls.paths = sorted(str(path.relative_to(folder)) for path in (folder / "traces").rglob("*") if path.is_file())
        cls.traces = {name: Trace(folder / "traces" / name / "rank0.json") for name in cls.file["strategies"]}

    def activities(self, group, kind):
        """Durations [ps] of all activities of a kind."""
        table = group["activities"]
        mine = table["kind"][:] == h5py.check_enum_dtype(table["kind"].dtype)[kind]
        return (table["end"][:] - table["start"][:])[mine]

    def test_a_folder_for_each_strategy_holds_the_rank_that_is_simulated(self):
        self.assertEqual(self.paths, sorted(f"traces/{name}/rank0.json" for name in self.traces))
        self.assertEqual(len(self.traces), 7)

    @for_each_strategy
    def test_the_rank_that_is_simulated_says_for_how_many_it_stands(self, trace, _):
        info = trace.top["distributedInfo"]
        self.assertEqual((info["rank"], info["world_size"], info["represented_ranks"]), (0, GPUS, GPUS))

    @for_each_strategy
    def test_the_top_level_is_kinetos_with_the_events_at_its_end(self, trace, group):
        self.assertEqual(list(trace.top), ["schemaVersion", "otherData", "deviceProperties", "distributedInfo",
                                           "displayTimeUnit", "traceEvents"])
        self.assertEqual((trace.top["schemaVersion"], trace.top["displayTimeUnit"]), (1, "ns"))
        self.assertEqual(trace.top["deviceProperties"][0]["numSms"], 304)
        self.assertEqual(trace.top["otherData"]["strategy"], group.name.split("/")[-1])

    @for_each_strategy
    def test_the_rank_is_found_by_the_pattern_of_hta_before_the_events(self, trace, _):
        header = trace.text.split('"traceEvents"')[0]
        self.assertEqual(HTA_RANK.findall(header), ["0"])

    @for_each_strategy
    def test_slices_of_one_track_nest(self, trace, _):
        self.assert_nests(trace)

    @for_each_strategy
    def test_kernels_and_collectives_last_as_long_as_in_the_hdf5_file_to_the_picosecond(self, trace, group):
        compute = [event for event in trace.of("X", "kernel") if not HTA_COMMUNICATION.match(event["name"])]
        spans = [event for event in trace.of("X", "kernel", "gpu_user_annotation") if event not in compute]
        for events, kind in ((compute, "kernel"), (spans, "collective")):
            self.assertGreater(len(events), 0)
            self.assertEqual(sum(picoseconds(event["dur"]) for event in events), sum(self.activities(group, kind)))

    @for_each_strategy
    def test_dates_are_written_in_microseconds_with_six_decimals(self, trace, _):
        numbers = re.findall(r'"(?:ts|dur)": ([^,}]+)', trace.text)
        self.assertGreater(len(numbers), 1000)
        self.assertTrue(all(re.fullmatch(r"\d+\.\d{6}", number) for number in numbers))

    def test_a_collective_on_cus_is_a_kernel_with_nccls_name_and_kinetos_args(self):
        [event] = [event for event in self.traces["prioritized"].of("X", "kernel")
                   if HTA_COMMUNICATION.match(event["name"])]
        self.assertEqual(event["name"], "ncclDevKernel_AllGather_bf16_DIRECT_SIMPLE")
        args = event["args"]
        self.assertEqual((args["Collective name"], args["dtype"], args["Group size"], args["Process Group Name"]),
                         ("all_gather", "BFloat16", GPUS, "0"))
        self.assertEqual((args["In msg nelems"], args["Out msg nelems"]), (GATHERED // 2 // GPUS, GATHERED // 2))
        self.assertEqual((args["device"], args["stream"]), (event["pid"], event["tid"]))

    def test_a_collective_on_copy_engines_is_copies_each_on_the_track_of_its_engine(self):
        trace = self.traces["dma"]
        copies = trace.of("X", "gpu_memcpy")
        self.assertEqual(len({event["tid"] for event in copies}), GPUS - 1)
        self.assertTrue(all(HTA_COMMUNICATION.match(event["name"]) for event in copies))
        self.assertAlmostEqual(sum(event["args"]["bytes"] for event in copies), GATHERED * (GPUS - 1) / GPUS)
        self.assertEqual([event["name"] for event in trace.of("X", "kernel")], ["mlp.gate_up"])
        [span] = trace.of("X", "gpu_user_annotation")
        self.assertNotIn("stream", span["args"], "HTA would count it as a kernel")

    @for_each_strategy
    def test_arrows_pair_up_and_lead_from_the_launch_to_the_kernel(self, trace, _):
        self.assert_arrows_pair_up(trace)

    @for_each_strategy
    def test_hta_finds_one_launch_before_every_kernel_and_copy(self, trace, _):
        calls = [event for event in trace.of("X", "cuda_runtime") if event["name"] in LAUNCHES]
        launches = {event["args"]["correlation"]: event for event in calls}
        device = trace.of("X", "kernel", "gpu_memcpy")
        self.assertEqual(len(launches), len(calls), "a launch each")
        self.assertEqual(sorted(launches), sorted(event["args"]["correlation"] for event in device))
        for event in device:
            launch = launches[event["args"]["correlation"]]
            self.assertEqual(launch["name"], "cudaLaunchKernel" if event["cat"] == "kernel" else "cudaMemcpyAsync")
            self.assertLess(launch["ts"], event["ts"])
            self.assertGreater(launch["dur"], 0, "HTA's critical path leaves out launches that take no time")
            self.assertGreater(event["args"]["stream"], 0, "HTA counts streams above 0 only")

    @for_each_strategy
    def test_hta_s_queue_length_rises_with_launches_and_ends_empty(self, trace, _):
        """hta/analyzers/trace_counters.py: +1 at a launch, -1 at its kernel, by stream, in the order of ts."""
        stream = {event["args"]["correlation"]: event["args"]["stream"] for event in trace.of("X", "kernel", "gpu_memcpy")}
        changes = [(event["ts"], stream[event["args"]["correlation"]], 1) for event in trace.of("X", "cuda_runtime")
                   if event["name"] in LAUNCHES]
        changes += [(event["ts"], event["args"]["stream"], -1) for event in trace.of("X", "kernel", "gpu_memcpy")]
        queues = collections.Counter()
        for _, queue, change in sorted(changes):
            queues[queue] += change
            self.assertGreaterEqual(queues[queue], 0)
        self.assertEqual(set(queues.values()), {0})

    @for_each_strategy
    def test_hta_s_step_encloses_everything_and_is_not_the_first_event(self, trace, _):
        slices = trace.of("X")
        (step,) = [event for event in slices if event["name"] == "ProfilerStep#0"]
        self.assertEqual((step["cat"], "stream" in step["args"]), ("user_annotation", False))
        self.assertLessEqual(step["ts"], min(event["ts"] for event in slices))
        self.assertAlmostEqual(step["ts"] + step["dur"], max(event["ts"] + event["dur"] for event in slices))
        self.assertEqual(slices[0]["cat"], "user_annotation", "HTA takes an event whose index is 0 for unlinked")
        self.assertNotIn("shortened", trace.top["otherData"])

    @for_each_strategy
    def test_every_track_and_process_has_a_name(self, trace, _):
        named = {(event["pid"], event["tid"]) for event in trace.of("M") if event["name"] == "thread_name"}
        self.assertLessEqual(set(trace.tracks()), named)
        processes = {event["pid"] for event in trace.of("M") if event["name"] == "process_name"}
        self.assertEqual({event["pid"] for event in trace.events}, processes)

    @for_each_strategy
    def test_counters_of_cus_hbm_and_links_stay_within_capacity_and_end_at_nothing(self, trace, group):
        names = self.file["names"].asstr()[:]
        steps = group["resources/steps"]
        resources = names[group["resources/list/name"][:]][steps["resource"][:]]
        counters = collections.defaultdict(list)
        for event in trace.of("C"):
            counters[event["name"]].append((event["ts"], event["args"]["used"]))
        self.assertLessEqual({"gpu0.cus [CU]", "gpu0.hbm [GB/s]", "link0-1 [GB/s]"}, set(counters))
        for name, values in counters.items():
            mine = resources == name.split(" ")[0]
            scale = 1e-9 if "GB/s" in name else 1
            self.assertLessEqual(max(used for _, used in values),
                                 max(steps["capacity"][:][mine], default=np.inf) * scale * (1 + 1e-9), name)
            self.assertEqual(values[-1][1], 0, name)
            self.assertTrue((np.diff([time for time, _ in values]) > 0).all(), name)


class OtherRuns(TraceTest, ScratchTest):
    def run_with(self, experiment, *arguments, **options):
        return c3sim("run", experiment, *QUICK, *arguments, "-o", "run.h5", "--trace", "traces", folder=self.folder,
                     **options)

    def assert_waits_are_whole(self, trace):
        """The wait names the call that recorded its event, made after the kernel behind which it is, and its own call."""
        wait, whole = trace.of("X", "cuda_sync")
        self.assertEqual((wait["name"], whole["name"]), ("Stream Wait Event", "Context Sync"))
        calls = {event["args"]["correlation"]: event for event in trace.of("X", "cuda_runtime")}
        record = calls[wait["args"]["wait_on_cuda_event_record_corr_id"]]
        self.assertEqual((record["name"], record["args"]["operation"]), ("cudaEventRecord", "first"))
        self.assertEqual(calls[wait["args"]["correlation"]]["name"], "cudaStreamWaitEvent")
        self.assertEqual((wait["args"]["wait_on_stream"], wait["tid"]), (7, 8))
        launches = sorted(event["ts"] for event in calls.values() if event["name"] == "cudaLaunchKernel" and event["tid"] == 7)
        self.assertTrue(launches[0] < record["ts"] < launches[1])
        self.assertEqual(calls[whole["args"]["correlation"]]["name"], "cudaDeviceSynchronize")

    def test_streams_of_several_operations_with_events_nest_and_pair_up(self):
        (self.folder / "events.toml").write_text(EVENTS)
        done = self.run_with("events.toml")
        self.assertEqual(done.returncode, 0, done.stderr)
        traces = {name: Trace(self.folder / "traces" / name / "rank0.json") for name in ("ring", "direct_dma")}
        for trace in traces.values():
            self.assert_nests(trace)
            self.assert_arrows_pair_up(trace)
            self.assert_waits_are_whole(trace)
            for product in trace.of("X", "cpu_op"):
                self.assertEqual((product["name"], product["args"]["Input Dims"], product["args"]["Input type"]),
                                 ("aten::mm", [[2048, 2048], [2048, 2048]], 2 * ["c10::BFloat16"]))
            self.assertEqual(len(trace.of("X", "cpu_op")), 2)
        collectives = [event for event in traces["ring"].of("X", "kernel") if HTA_COMMUNICATION.match(event["name"])]
        # Of a size in bytes: 8 Mi elements of one byte.
        self.assertEqual({event["name"]: event["args"]["In msg nelems"] for event in collectives},
                         {"ncclDevKernel_AllGather_u8_RING_SIMPLE": 2**20, "ncclDevKernel_AllToAll_u8_RING_SIMPLE": 2**23})
        self.assertEqual([event["args"]["Seq"] for event in collectives], [1, 2])
        self.assertEqual({event["args"]["Process Group Ranks"] for event in collectives}, {str(list(range(GPUS)))})
        self.assertEqual(len(traces["direct_dma"].of("X", "gpu_memcpy")), 2 * (GPUS - 1))

    def test_ranks_that_are_simulated_each_have_a_file_of_their_own(self):
        done = self.run_with(MAIN_JOB, "--set", "measure.fold=none")
        self.assertEqual(done.returncode, 0, done.stderr)
        for rank in range(GPUS):
            trace = Trace(self.folder / f"traces/dma/rank{rank}.json")
            info = trace.top["distributedInfo"]
            self.assertEqual((info["rank"], info["world_size"], info["represented_ranks"]), (rank, GPUS, 1))
            self.assertEqual({event["pid"] for event in trace.of("X", "kernel", "gpu_memcpy")}, {rank})
            self.assertEqual(len(trace.of("X", "gpu_memcpy")), GPUS - 1)
            self.assert_nests(trace)

    def test_a_folder_that_cannot_be_made_is_one_line_and_nothing_is_written(self):
        (self.folder / "traces").write_text("mine")
        self.assert_one_line(self.run_with(MAIN_JOB), 74, r"^c3sim: traces/serial: cannot create: Not a directory$")
        self.assertEqual(self.files(), ["traces"])

    def test_a_full_disk_leaves_no_trace_and_no_result(self):
        limit = 100_000  # bytes a file: the first trace is longer, the HDF5 file until then shorter
        done = self.run_with(MAIN_JOB, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assert_one_line(done, 74, r"^c3sim: traces/serial/rank0\.json: cannot write: File too large$")
        self.assertEqual(self.files(), [])


class ShortenedStep(ScratchTest):
    """A step of which fewer layers are simulated says so wherever its trace is looked at."""

    STEP = SOURCE / "configs/experiments/training/llama3_8b_fsdp8.toml"

    def run_step(self, *arguments):
        done = c3sim("run", self.STEP, "--set", "measure.seeds=1", "--set", "training.sequence=512", "--set",
                     "training.micro_batch=1", "--trace", "traces", *arguments, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done, Trace(self.folder / "traces/default/rank0.json")

    def test_the_part_is_in_other_data_in_a_slice_over_all_and_on_stderr(self):
        done, trace = self.run_step()
        self.assertRegex(trace.top["otherData"]["shortened"], r"^8 of 32 layers; .*--exact")
        (label,) = [event for event in trace.of("X") if event["name"].startswith("shortened: 8 of 32 layers")]
        (step,) = [event for event in trace.of("X") if event["name"] == "ProfilerStep#0"]
        self.assertEqual((label["pid"], label["tid"], label["ts"], label["dur"]),
                         (step["pid"], step["tid"], step["ts"], step["dur"]))
        self.assertIn("timelines show 8 of 32 layers: add --exact for the whole step\n", done.stderr)

    def test_an_exact_step_says_nothing_of_it(self):
        done, trace = self.run_step("--exact")
        self.assertNotIn("shortened", trace.text)
        self.assertNotIn("timelines show", done.stderr)


class Groups(ScratchTest):
    """Collectives of some ranks: who is in which process group, and what NCCL calls the kernels."""

    def setUp(self):
        super().setUp()
        (self.folder / "groups.toml").write_text("""
schema = 1
system = "mi300x-8"
[[stream]]
name = "comm"
run = [{ all_reduce = { size = "8 MiB", ranks = [0, 2] } }, { reduce_scatter = "8 MiB" },
       { broadcast = { size = "8 MiB", root = 5, ranks = [5, 1] } }]
[strategy.now]
""")
        done = c3sim("run", "groups.toml", "--trace", "traces", *QUICK, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.traces = [Trace(self.folder / f"traces/now/rank{rank}.json") for rank in range(GPUS)]

    def kernels(self, rank):
        return [(event["name"], event["args"]) for event in self.traces[rank].of("X", "kernel")]

    def test_every_group_is_described_in_every_file(self):
        for rank, trace in enumerate(self.traces):
            info = trace.top["distributedInfo"]
            self.assertEqual((info["rank"], info["world_size"], info["represented_ranks"]), (rank, GPUS, 1))
            self.assertEqual([group["ranks"] for group in info["pg_config"]], [list(range(GPUS)), [0, 2], [5, 1]])

    def test_a_rank_runs_the_collectives_of_its_groups_by_nccl_s_names(self):
        names = {"sum": "ncclDevKernel_AllReduce_Sum_u8_RING_SIMPLE", "scatter": "ncclDevKernel_ReduceScatter_Sum_u8_RING_SIMPLE",
                 "root": "ncclDevKernel_Broadcast_u8_RING_SIMPLE"}
        expected = {0: ("sum", "scatter"), 1: ("scatter", "root"), 2: ("sum", "scatter"), 5: ("scatter", "root")}
        for rank in range(GPUS):
            self.assertEqual([name for name, _ in self.kernels(rank)],
                             [names[key] for key in expected.get(rank, ("scatter",))])

    def test_each_rank_is_in_one_of_several_groups_at_once(self):
        (self.folder / "pairs.toml").write_text("""
schema = 1
system = "mi300x-8"
[[stream]]
name = "comm"
run = [{ all_gather = { size = "8 MiB", groups = { size = 2, stride = 4 } } }]
[strategy.now]
""")
        for fold, ranks in (("mean", 1), ("none", GPUS)):
            done = c3sim("run", "pairs.toml", "--trace", fold, *QUICK, "--set", f"measure.fold={fold}", folder=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(list((self.folder / fold / "now").iterdir())), ranks)
            for rank in range(ranks):
                trace = Trace(self.folder / fold / f"now/rank{rank}.json")
                groups = [group["ranks"] for group in trace.top["distributedInfo"]["pg_config"]]
                self.assertEqual(groups, [list(range(GPUS)), [0, 4], [1, 5], [2, 6], [3, 7]])
                (event,) = trace.of("X", "kernel")
                self.assertEqual(event["args"]["Process Group Name"], str(1 + rank % 4))
                self.assertEqual(event["args"]["Group size"], 2)

    def test_arguments_are_the_group_s(self):
        (_, reduced), (_, scattered) = self.kernels(2)
        self.assertEqual((reduced["Process Group Name"], reduced["Group size"]), ("1", 2))
        self.assertEqual((reduced["In msg nelems"], reduced["Out msg nelems"]), (2**23, 2**23))
        self.assertEqual((scattered["Process Group Name"], scattered["Group size"]), ("0", GPUS))
        self.assertEqual((scattered["In msg nelems"], scattered["Out msg nelems"]), (2**23, 2**20))


if __name__ == "__main__":
    unittest.main()
