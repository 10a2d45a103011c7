"""The folder in which invocations run: experiments, presets, results and tables, whole, damaged and of odd kinds.

Everything lies below `in/`, which no invocation may change. Outputs go to `out/`, made anew for each.
"""

import gzip
import os
import pathlib
import random
import shutil
import subprocess

EXPERIMENT = """schema = 1
system = "mi300x-8"
[[stream]]
name = "a"
run = [{ gemm = { m = 512, n = 512, k = 512, dtype = "bf16" } }]
[[stream]]
name = "b"
run = [{ all_gather = "1 MiB" }]
[strategy.concurrent]
[strategy.dma]
b.backend = "dma"
[measure]
seeds = 1
loss_split = false
"""
LAYER = """schema = 1
system = "h100-sxm-8"
[[stream]]
name = "main"
run = [{ kernel = { op = "softmax", rows = 512, cols = 1024, dtype = "bf16" } }, { record = "ready" }]
[[stream]]
name = "side"
run = [{ wait = "ready" }, { all_reduce = "256 KiB" }]
[strategy.serial]
serial = true
[strategy.concurrent]
[measure]
seeds = 1
"""
TRAINING = """schema = 1
system = "h100-sxm-8"
[model]
use = "gpt2-large"
layers = 1
dtype = "bf16"
[training]
framework = "pytorch-eager"
host = "grace"
sharding = "fsdp"
sequence = 128
micro_batch = 1
recompute = "none"
[strategy.default]
[measure]
seeds = 1
loss_split = false
"""
SWEEP = EXPERIMENT + "[sweep.product]\n\"measure.seed\" = [1, 2]\n"
SHAPES = "op,m,n,k,dtype\ngemm,512,512,512,bf16\ngemm,256,256,1024,bf16\n"
MEASURED = "gpu,op,m,n,k,dtype,time_us\n" + "".join(
    f"a100-sxm-80gb,gemm,{m},{n},{k},bf16,{m * n * k / 1e8:.1f}\n"
    for m in (512, 1024, 2048) for n in (512, 2048) for k in (512, 1024, 4096))

TRACE = """{"distributedInfo": {"rank": 0, "world_size": 2}, "deviceProperties": [{"id": 0, "name": "A100", "numSms": 108}], "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 900, "args": {}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 40, "args": {"Input Dims": [[4, 8], [8, 2]]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20.125, "dur": 50, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 80, "dur": 5, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic", "pid": 0, "tid": 20, "ts": 90, "dur": 60, "args": {"device": 0, "stream": 20,
"correlation": 2, "Collective name": "allreduce", "In msg nelems": 64, "dtype": "Float", "Group size": 2, "Process Group Name": "0", "Seq": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1, "ts": 100, "dur": 55, "args": {"correlation": 3}}]}
"""

NODES = """{"schema": "1.0.1", "pid": 1, "nodes": [
{"id": 1, "name": "thread", "parent": 1, "tid": 1, "inputs": [], "input_shapes": [], "input_types": []},
{"id": 2, "name": "aten::mm", "rf_id": 5, "parent": 1, "tid": 1, "op_schema": "mm", "inputs": [[7, 8, 0, 64, 4, "cuda:0"], -inf, [1, 2]],
"input_shapes": [[8, 8], [], [[], []]], "input_types": ["Tensor(float)", "Double", "GenericList[Int,Int]"]},
{"id": 3, "name": "record_param_comms", "parent": 1, "tid": 1, "inputs": [[[7, 8, 0, 64, 4, "cuda:0"]], 1, 99, 0, "allreduce", [], [], 2],
"input_shapes": [[[64]], [], [], [], [], [], [], []],
"input_types": ["GenericList[Tensor(float)]", "Int", "Int", "Int", "String", "GenericList[]", "GenericList[]", "Int"]}]}
"""
OPERATORS = """{"format": "c3sim operators", "version": 1, "operators": [
{"rank": 0, "thread": 1, "class": "gemm", "name": "aten::mm", "dims": [[8, 8]], "types": ["float"], "concrete": [""], "gpu_time_us": 1.5},
{"rank": 0, "thread": 1, "class": "collective", "name": "record_param_comms", "wait": false, "kind": "all_reduce", "group_size": 1, "sequence": 3}
]}
"""
CHAKRA_GRAPH = '{"workload_graph": [{"Id": 1, "Name": "x", "NodeType": 4, "runtime": 5}, {"Id": 2, "NodeType": 7, "data_deps": [1], "comm_size": 8}]}'

OF_THE_USER = b"older\n"
OWN = b'<!DOCTYPE html>\n<html><head><meta name="generator" content="c3sim"/></head></html>\n'

TEXTS = {
    "traces/rank0.json": TRACE,
    "traces/rank1.json": TRACE.replace('"rank": 0', '"rank": 1'),
    "traces/run/rank0.json": TRACE,
    "traces/run/rank1.json": TRACE.replace('"rank": 0', '"rank": 1').replace('"ts": 90', '"ts": 95'),
    "traces/single.json": TRACE.replace('"world_size": 2', '"world_size": 1'),
    "traces/empty.json": "",
    "traces/foreign.json": '{"a": 1}',
    "traces/execution.json": '{"schema": "1.0.1", "nodes": []}',
    "traces/nodes_0.json": NODES,
    "traces/nodes_ring.json": NODES.replace('"id": 2, "name": "aten::mm", "rf_id": 5, "parent": 1', '"id": 2, "name": "x", "parent": 2').replace(
        '"id": 1, "name": "thread", "parent": 1', '"id": 1, "name": "x", "parent": 3'),
    "traces/nodes_cut.json": NODES[:300],
    "traces/operators.json": OPERATORS,
    "traces/operators_later.json": OPERATORS.replace('"version": 1', '"version": 2'),
    "traces/graph.json": CHAKRA_GRAPH,
    "traces/graph_ring.json": CHAKRA_GRAPH.replace('"runtime": 5', '"data_deps": [2]'),
    "traces/both/kineto_0.json": TRACE.replace('"world_size": 2', '"world_size": 1'),
    "traces/both/et_0.json": NODES,
    "traces/deep.json": '{"traceEvents": [' + "[" * 100_000,
    "traces/far.json": TRACE.replace("20.125", "9e15"),
    "traces/huge.json": TRACE.replace("20.125", "9" * 5000),
    "traces/nan.json": TRACE.replace("20.125", "NaN"),
    "traces/cut.json": TRACE[:700],
    "exp/base.toml": EXPERIMENT,
    "exp/child.toml": 'extends = "base.toml"\n[measure]\nseed = 7\n',
    "exp/layer.toml": LAYER,
    "exp/training.toml": TRAINING,
    "exp/sweep.toml": SWEEP,
    "exp/my experiment.toml": EXPERIMENT,
    "exp/ünïcode.toml": EXPERIMENT,
    "exp/=x.toml": EXPERIMENT,
    "exp/-o.toml": EXPERIMENT,
    "exp/crlf.toml": EXPERIMENT.replace("\n", "\r\n"),
    "exp/bom.toml": "\ufeff" + EXPERIMENT,
    "exp/empty.toml": "",
    "exp/blank.toml": " \n\t\n",
    "exp/nul.toml": EXPERIMENT + "\0",
    "exp/cut.toml": EXPERIMENT[:137],
    "exp/huge_key.toml": EXPERIMENT + "x" * 1_000_000 + " = 1\n",
    "exp/many_keys.toml": EXPERIMENT + "".join(f"key{i} = {i}\n" for i in range(2000)),
    "exp/huge_value.toml": EXPERIMENT.replace("512", "9" * 5000, 1),
    "exp/deep.toml": EXPERIMENT + "deep = " + "[" * 5000 + "]" * 5000 + "\n",
    "exp/cycle.toml": 'extends = "cycle.toml"\n',
    "exp/orphan.toml": 'extends = "nowhere.toml"\n',
    "exp/extends_folder.toml": 'extends = "."\n',
    "exp/extends_pipe.toml": 'extends = "pipe.toml"\n',
    "exp/json.toml": '{"schema": 1}\n',
    "exp/gpu.toml": 'extends = "../../nowhere/gpus/mi300x.toml"\n',
    "csv/shapes.csv": SHAPES,
    "csv/broken.csv": SHAPES + "gemm,-1,x,,bf16\nsoftmax,1,2,3,4\n\"open,1\n",
    "csv/empty.csv": "",
    "csv/header.csv": "op,m,n,k,dtype\n",
    "csv/twice.csv": "op,op,m\ngemm,gemm,1\n",
    "csv/nul.csv": SHAPES + "gemm,\0,1,1,bf16\n",
    "csv/wide.csv": "op," * 20000 + "\n" + "1," * 20000 + "\n",
    "csv/huge.csv": "op,m,n,k,dtype\ngemm," + "9" * 100000 + ",1,1,bf16\n",
    "csv/measured.csv": MEASURED,
    "data/rows.csv": "a,b\n1,2\n",
    "data/collectives/x.txt": "nothing\n",
    "text.txt": "a text\n",
}
BYTES = {
    "traces/packed.json.gz": gzip.compress(TRACE.encode()),
    "traces/packed_cut.json.gz": gzip.compress(TRACE.encode())[:150],
    "traces/name.json": TRACE.replace("gemm", "g\x01mm").encode("latin-1") + b" ",
    "traces/binary.json": bytes(range(256)) * 16,
    # Metadata of version 1.0.0; node 1, of type 4; node 2, of type 7, which depends on 1 and has comm_size 8.
    "traces/chakra.0.et": b"\x07\x0a\x051.0.0" + b"\x09\x08\x01\x12\x01x\x18\x04\x38\x05" + b"\x15\x08\x02\x18\x07\x28\x01"
                          + b"\x52\x0d\x0a\x09comm_size\x48\x08",
    "traces/chakra_cut.et": b"\x07\x0a\x051.0.0" + b"\x09\x08\x01",
    "exp/latin1.toml": 'name = "caf\xe9"\n'.encode("latin-1") + EXPERIMENT.encode(),
    "exp/binary.toml": bytes(range(256)) * 16,
    "csv/latin1.csv": b"op,m,n,k,dtype\ngemm,\xe9,1,1,bf16\n",
    "h5/text.h5": b"not HDF5\n" * 100,
    "h5/empty.h5": b"",
    "h5/signature.h5": b"\x89HDF\r\n\x1a\n",
    "h5/zeros.h5": bytes(4096),
}
LINKS = {
    "exp/link.toml": "base.toml", "exp/loop.toml": "loop2.toml", "exp/loop2.toml": "loop.toml", "exp/dangling.toml": "none.toml",
    "exp/memory.toml": "/proc/self/mem", "exp/null.toml": "/dev/null", "exp/zero.toml": "/dev/zero",
    "h5/link.h5": "base.h5", "h5/loop.h5": "loop.h5", "h5/zero.h5": "/dev/zero", "h5/memory.h5": "/proc/self/mem",
    "csv/zero.csv": "/dev/zero", "csv/loop.csv": "loop.csv", "csv/memory.csv": "/proc/self/mem",
}
PIPES = ("exp/pipe.toml", "h5/pipe.h5", "csv/pipe.csv")
FOLDERS = ("exp/folder.toml", "h5/folder.h5", "csv/folder.csv")
DAMAGED = 40  # of each kind
SEAL = 512


def command(*arguments, folder):
    done = subprocess.run([os.environ["C3SIM"], *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments} ended with {done.returncode}: {done.stderr}")


def damage(whole, draw, first):
    """Some bits flipped, a part overwritten, or cut off."""
    content = bytearray(whole)
    kind = draw.randrange(4)
    if kind == 0:
        del content[draw.randrange(len(content)):]
    elif kind == 1:
        at = draw.randrange(first, len(content))
        content[at:at + 16] = draw.randbytes(min(16, len(content) - at))
    else:
        for _ in range(draw.choice((1, 1, 4, 32))):
            content[draw.randrange(first, len(content))] ^= 1 << draw.randrange(8)
    return bytes(content)


def add_damaged(folder, seed):
    draw = random.Random(f"damage {seed}")
    for name in ("base", "merged"):
        whole = (folder / f"h5/{name}.h5").read_bytes()
        unsealed = bytes(SEAL) + whole[SEAL:]
        (folder / f"h5/{name}_unsealed.h5").write_bytes(unsealed)
        for i in range(DAMAGED):
            (folder / f"h5/{name}_sealed_{i}.h5").write_bytes(damage(whole, draw, 0))
            (folder / f"h5/{name}_unsealed_{i}.h5").write_bytes(damage(unsealed, draw, SEAL))
    for i in range(DAMAGED):
        (folder / f"traces/damaged_{i}.json").write_bytes(damage(TRACE.encode(), draw, 0))


def add_sweeps(folder, seed):
    """Folders of sweeps: whole, and with a damaged, missing or odd manifest or point."""
    draw = random.Random(f"sweeps {seed}")
    command("sweep", "exp/sweep.toml", "-q", "-o", "sweeps/whole", folder=folder)
    command("merge", "sweeps/whole", "-q", "-o", "h5/merged.h5", folder=folder)
    whole = folder / "sweeps/whole"
    for i in range(12):
        copy = folder / f"sweeps/damaged_{i}"
        shutil.copytree(whole, copy)
        victim = draw.choice([copy / "manifest.json", *sorted((copy / "points").iterdir())])
        victim.write_bytes(damage(victim.read_bytes(), draw, 0))
    shutil.copytree(whole, folder / "sweeps/missing")
    sorted((folder / "sweeps/missing/points").iterdir())[0].unlink()
    for name, kind in (("pipe", os.mkfifo), ("folder", os.mkdir)):
        copy = folder / f"sweeps/{name}"
        shutil.copytree(whole, copy)
        (copy / "manifest.json").unlink()
        kind(copy / "manifest.json")
        copy = folder / f"sweeps/{name}_point"
        shutil.copytree(whole, copy)
        point = sorted((copy / "points").iterdir())[0]
        point.unlink()
        kind(point)
    (folder / "sweeps/none").mkdir()


def build(folder, seed):
    """Makes `folder`/in."""
    inputs = pathlib.Path(folder) / "in"
    for name in ("exp", "csv", "h5", "data/collectives", "sweeps", "traces/run", "traces/both", *FOLDERS):
        (inputs / name).mkdir(parents=True)
    for name, text in TEXTS.items():
        (inputs / name).write_text(text, encoding="utf-8", newline="")
    for name, content in BYTES.items():
        (inputs / name).write_bytes(content)
    for name, target in LINKS.items():
        (inputs / name).symlink_to(target)
    for name in PIPES:
        os.mkfifo(inputs / name)
    (pathlib.Path(os.fsdecode(os.fsencode(inputs / "exp") + b"/\xff\xfe.toml"))).write_text(EXPERIMENT)
    command("run", "exp/base.toml", "-q", "-o", "h5/base.h5", folder=inputs)
    command("run", "exp/layer.toml", "-q", "-o", "h5/layer.h5", folder=inputs)
    add_sweeps(inputs, seed)
    add_damaged(inputs, seed)
    shutil.rmtree(inputs / "out", ignore_errors=True)


def inputs_of(folder):
    """Path of every file below in/: size, inode and times, which change with any write."""
    state = {}
    for root, folders, files in os.walk(os.fsencode(folder) + b"/in"):
        for name in files + folders:
            path = root + b"/" + name
            status = os.lstat(path)
            size = (status.st_size, status.st_mtime_ns) if name in files else ()
            state[path] = (status.st_ino, status.st_mode, *size)
    return state
