"""Writes the inputs from which the fuzzers of execution and Chakra traces begin: make_corpus.py FOLDER.

They are those of the tests of c3sim import; Chakra's are binary: FOLDER/execution_trace and FOLDER/chakra."""

import io
import json
import pathlib
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))

import graph_traces as graphs  # noqa: E402


def execution_traces():
    old = graphs.execution_trace()
    later = {"schema": "1.1.1-chakra.0.0.4", "pid": 100, "nodes": []}
    for node in old["nodes"]:
        attributes = [{"name": name, "type": "", "value": node[name]} for name in ("rf_id", "fw_parent", "seq_id", "tid", "op_schema")]
        if node["name"] == "record_param_comms":
            attributes += [{"name": "pg_size", "type": "uint64", "value": 2}, {"name": "dtype", "type": "string", "value": "Float"}]
        later["nodes"].append({"id": node["id"], "name": node["name"], "ctrl_deps": node["parent"], "attrs": attributes,
                               "inputs": {"values": node["inputs"], "shapes": node["input_shapes"], "types": node["input_types"]},
                               "outputs": {"values": [], "shapes": [], "types": []}})
    groups = '[{"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1], "group_size": 2}]'
    later["nodes"].append({"id": 30, "name": "## process_group:init ##", "ctrl_deps": 2,
                           "inputs": {"values": [groups], "shapes": [[]], "types": ["String"]}})
    linked = {**old, "nodes": [*old["nodes"], {"id": 40, "name": "ampere_gemm", "parent": 4, "cat": "kernel", "dur": 2.5, "args": {"stream": 7}}]}
    texts = [json.dumps(trace) for trace in (old, later, linked)]
    kineto = [json.dumps(graphs.kineto(0, record_ids)) for record_ids in (False, True)]
    return [text.encode() for text in [*texts, *(f"{texts[0]}\n---\n{other}" for other in kineto)]]


def chakra_traces():
    step = graphs.chakra_step()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        member = tarfile.TarInfo("chakra.0.et")
        member.size = len(step)
        tar.addfile(member, io.BytesIO(step))
    nodes = [{"Id": 1, "Name": "aten::mm", "NodeType": 4, "runtime": 10, "is_cpu_op": True},
             {"id": "2", "name": "nccl", "type": "COMM_COLL_NODE", "dataDeps": ["1"], "durationMicros": "5", "comm_size": 64}]
    return [step, json.dumps({"workload_graph": nodes}).encode(), archive.getvalue()]


def main():
    for name, inputs in (("execution_trace", execution_traces()), ("chakra", chakra_traces())):
        folder = pathlib.Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        for i, content in enumerate(inputs):
            (folder / f"{i}").write_bytes(content)


if __name__ == "__main__":
    main()
