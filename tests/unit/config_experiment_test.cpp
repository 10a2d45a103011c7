#include "configs/jobs/experiment_reader.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "configs/presets/preset_store.hpp"
#include "tests/support/print_units.hpp"
#include "tests/support/written_experiment.hpp"
#include "tests/unit/config_files.hpp"

namespace c3::config_experiment_test {
using test::shape_of;
using test::written;

namespace {

constexpr std::string_view kHead = "schema = 1\nsystem = \"mi300x-8\"\n";
constexpr std::string_view kModel = "[model]\nuse = \"llama-70b\"\ntokens = 2048\ndtype = \"bf16\"\n";
constexpr std::string_view kStreams =
    "[[stream]]\nname = \"compute\"\nrun = [\"mlp.gate_up\"]\n"
    "[[stream]]\nname = \"fsdp\"\nrun = [{ all_gather = \"896 MiB\" }]\n";
constexpr std::string_view kStrategy = "[strategy.concurrent]\n";

using Parts = std::vector<std::string_view>;

std::string joined(const Parts& parts) {
  std::string text;
  for (const std::string_view part : parts)
    text += part;
  return text;
}

Experiment experiment(const Parts& parts, std::optional<std::uint64_t> draw = std::nullopt) {
  const ScratchFolder folder;
  return ExperimentFile::load(folder.write("e.toml", joined(parts))).make(draw);
}

/// The error, from the line number on.
std::string refusal(const Parts& parts) {
  const ScratchFolder folder;
  const std::string file = folder.write("e.toml", joined(parts));
  const std::string error = error_of([&] { ExperimentFile::load(file); });
  return error.starts_with(file + ":") ? error.substr(file.size() + 1) : error;
}

/// An experiment whose compute stream runs \p run.
std::string refused_run(const std::string& run) {
  return refusal({kHead, kModel, "[[stream]]\nname = \"compute\"\nrun = [", run, "]\n", kStrategy});
}

/// The experiment of kStreams under one strategy.
std::string refused_strategy(const std::string& strategy) {
  return refusal({kHead, kModel, kStreams, "[strategy.s]\n", strategy, "\n"});
}

std::filesystem::path main_job() {
  for (const auto& file : experiment_files()) {
    if (file.filename() == "c3_llama70b_mi300x.toml") return file;
  }
  return {};
}

TEST_CASE(
    "the main job: a 2,048 x 57,344 x 8,192 GEMM beside the all-gather of 896 MiB, seven strategies in file "
    "order") {
  const Experiment job = ExperimentFile::load(main_job()).make(std::nullopt);
  CHECK(job.name == "c3_llama70b_mi300x");
  REQUIRE(job.program.streams.size() == 2);
  // Gate and up are one GEMM of 2 x 28,672 outputs; its bf16 weight is 57,344 x 8,192 x 2 B = 896 MiB.
  CHECK(written(job.program)[0] ==
        WrittenStream{"compute", {{"mlp.gate_up", GemmShape{2048, 57344, 8192, DType::bf16}}}});
  CHECK(written(job.program)[1] ==
        WrittenStream{"fsdp",
                      {{"all_gather next.mlp.gate_up.weight",
                        CollectiveCall{CollectiveKind::all_gather, 896.0_MiB, DType::bf16}}}});
  std::vector<std::string> names;
  for (const Strategy& strategy : job.strategies)
    names.push_back(strategy.name);
  CHECK(names == std::vector<std::string>{"serial", "concurrent", "prioritized", "partitioned",
                                          "prioritized_partitioned", "dma", "dma_partitioned"});
  CHECK(job.strategies[0].serial);
  CHECK(job.strategies[2].order == std::vector<std::string>{"fsdp", "compute"});
  CHECK(job.strategies[3].streams.at("fsdp").cus == CuShare{8, 128});
  CHECK(job.strategies[5].streams.at("fsdp").backend == Backend::dma);
  CHECK(job.strategies[6].streams.at("compute").reserve_cus == 8);
  CHECK(job.measure.seeds == 8);
  CHECK(job.measure.draws == 0);
}

TEST_CASE("every operation of a layer has the shape that follows from the model's dimensions") {
  const Experiment e = experiment({kHead, kModel,
                                   "[[stream]]\nname = \"c\"\nrun = [\"attn.qkv\", \"attn.out\", \"mlp.down\", "
                                   "\"next.mlp.gate_up\", { gemm = { m = 1, n = 2, k = 3, dtype = \"fp8\" } }, "
                                   "{ record = \"done\" }, { wait = \"done\" }, { all_to_all = \"448 MiB\" }, "
                                   "{ all_gather = \"mlp.down.weight\" }]\n",
                                   kStrategy});
  const auto ops = written(e.program).at(0).operations;
  const auto gemm = [&](std::size_t i) { return *shape_of<GemmShape>(ops.at(i)); };
  CHECK(gemm(0) == GemmShape{2048, (64 + 2 * 8) * 128, 8192, DType::bf16});
  CHECK(gemm(1) == GemmShape{2048, 8192, 8192, DType::bf16});
  CHECK(gemm(2) == GemmShape{2048, 8192, 28672, DType::bf16});
  CHECK(gemm(3) == GemmShape{2048, 57344, 8192, DType::bf16});
  CHECK(gemm(4) == GemmShape{1, 2, 3, DType::fp8});
  CHECK(std::get<WrittenRecord>(ops.at(5).work).event == "done");
  CHECK(std::get<WrittenWait>(ops.at(6).work).event == "done");
  CHECK(std::get<CollectiveCall>(ops.at(7).work) == CollectiveCall{CollectiveKind::all_to_all, 448.0_MiB});
  CHECK(std::get<CollectiveCall>(ops.at(8).work) ==
        CollectiveCall{CollectiveKind::all_gather, 448.0_MiB, DType::bf16});
  CHECK(ops.at(4).name == "gemm 1x2x3 fp8");
}

TEST_CASE(
    "GPUs that share a layer's weights have a part of each: of the outputs, or of the inputs they add up") {
  const Experiment e =
      experiment({kHead, kModel, "tensor_parallel = 8\n",
                  "[[stream]]\nname = \"c\"\nrun = [\"attn.qkv\", \"attn.out\", \"mlp.gate_up\", \"mlp.down\", "
                  "{ reduce_scatter = \"mlp.down.output\" }, { all_gather = { size = \"mlp.gate_up.input\", "
                  "in_place = true } }, "
                  "{ all_gather = \"mlp.down.weight\" }]\n",
                  kStrategy});
  const auto ops = written(e.program).at(0).operations;
  const auto gemm = [&](std::size_t i) { return *shape_of<GemmShape>(ops.at(i)); };
  const auto call = [&](std::size_t i) { return std::get<CollectiveCall>(ops.at(i).work); };
  CHECK(gemm(0) == GemmShape{2048, (64 + 2 * 8) * 128 / 8, 8192, DType::bf16});
  CHECK(gemm(1) == GemmShape{2048, 8192, 8192 / 8, DType::bf16});
  CHECK(gemm(2) == GemmShape{2048, 57344 / 8, 8192, DType::bf16});
  CHECK(gemm(3) == GemmShape{2048, 8192, 28672 / 8, DType::bf16});
  CHECK(call(4).bytes == Bytes{2048.0 * 8192 * 2});
  CHECK(call(5).bytes == Bytes{2048.0 * 8192 * 2});
  CHECK(call(5).in_place);
  CHECK(ops.at(5).name == "all_gather mlp.gate_up.input in place");
  CHECK(call(6).bytes == 448.0_MiB);  // whole, however many have a part
  CHECK(refusal({kHead, kModel, "tensor_parallel = 3\n", kStreams, kStrategy}) ==
        Part{"stream.compute.run[0]: model.tensor_parallel = 3 does not divide the 57344 outputs of "
             "'mlp.gate_up'"});
}

TEST_CASE("a strategy may fuse, choose who adds, and arbitrate HBM its own way") {
  const Experiment e = experiment({kHead, kModel, kStreams,
                                   "[strategy.s]\nhbm_arbitration = \"compute_first\"\n"
                                   "fsdp.backend = \"fused\"\n[strategy.t]\nfsdp.reduction = \"atomics\"\n"});
  CHECK(e.strategies[0].hbm_arbitration == HbmArbitration::compute_first);
  CHECK(e.strategies[0].streams.at("fsdp").backend == Backend::fused);
  CHECK_FALSE(e.strategies[1].hbm_arbitration);
  CHECK(e.strategies[1].streams.at("fsdp").backend == Backend::fused);
  CHECK(e.strategies[1].streams.at("fsdp").reduction == FusedReduction::atomics);
  CHECK(refused_strategy("fsdp.backend = \"dma\"\nfsdp.reduction = \"atomics\"") ==
        Part{"strategy.s.fsdp.reduction: requires backend = \"fused\" (it is \"dma\")"});
  CHECK(refused_strategy("hbm_arbitration = \"compute_frist\"") == Part{"did you mean 'compute_first'"});
}

TEST_CASE("a kernel is written with the words of a table of shapes, and runs as what they say") {
  const Experiment e = experiment(
      {kHead, "[[stream]]\nname = \"c\"\nrun = [",
       "{ kernel = { op = \"attention\", heads = 8, kv_heads = 2, seq = 64, head_dim = 128, causal = true, "
       "dtype = \"bf16\", on = [0] } }, { kernel = { op = \"gelu+add\", rows = 3, cols = 5, dtype = \"fp32\", "
       "pass = \"backward\" } }",
       "]\n", kStrategy});
  const auto ops = written(e.program).at(0).operations;
  CHECK(*shape_of<AttentionShape>(ops.at(0)) ==
        AttentionShape{.heads = 8, .kv_heads = 2, .queries = 64, .keys = 64, .head_dim = 128, .causal = true});
  CHECK(e.program.script_of(1).streams.at(0).size() == ops.size() - 1);  // others leave it out
  VectorShape chain{
      .chain = VectorOp::gelu, .rows = 3, .cols = 5, .dtype = DType::fp32, .pass = Pass::backward};
  chain.chain.append(VectorOp::add);
  CHECK(*shape_of<VectorShape>(ops.at(1)) == chain);
  CHECK(ops.at(1).name == "gelu+add fp32 pass=backward rows=3 cols=5");
  CHECK(std::holds_alternative<Operator>(ops.at(1).work));
  CHECK(refused_run("{ kernel = { op = \"sofmax\", rows = 3, cols = 5, dtype = \"fp32\" } }") ==
        Part{"kernel.op: unknown operator 'sofmax'"});
  CHECK(refused_run("{ kernel = { op = \"softmax\", rows = 3, dtype = \"fp32\" } }") ==
        Part{"kernel.cols: is missing"});
}

TEST_CASE(
    "without [model] an experiment runs shapes and sizes that are written out, with one no operation of a "
    "layer") {
  const Experiment e =
      experiment({kHead, "[[stream]]\nname = \"c\"\nrun = [{ all_gather = \"1 GiB\" }]\n", kStrategy});
  CHECK(e.program.streams.size() == 1);
  CHECK(refusal({kHead, "[[stream]]\nname = \"c\"\nrun = [\"mlp.down\"]\n", kStrategy}) ==
        Part{"there is no [model]"});
}

TEST_CASE(
    "the resolved configuration, saved and loaded without any preset by name, makes the same experiments") {
  const ScratchFolder folder;
  const std::vector<std::string> sets = {"measure.draws=3", "gpu.hbm_read=4.5 TB/s", "measure.seed=11"};
  const ExperimentFile file = ExperimentFile::load(main_job(), sets);
  const std::string text = file.resolved_toml();
  const ExperimentFile again = ExperimentFile::load(folder.write("resolved.toml", text));
  CHECK(again.resolved_toml() == text);
  CHECK(text == Part{"[measure]\nseeds = 8\ndraws = 3\nseed = 11\nloss_split = true\nalone = "
                     "true\nkernel_grain = \"cohort\"\n"});
  CHECK(again.make(std::nullopt) == file.make(std::nullopt));
  CHECK(again.make(2) == file.make(2));
  CHECK(file.make(2) != file.make(std::nullopt));
  CHECK(file.make(std::nullopt).cluster.gpu.hbm.read == 4.5_TBps);
  for (const std::string_view reference : {"system =", "use =", "gpu = ", "library = "}) {
    CAPTURE(reference);
    CHECK_FALSE("\n" + text == Part{"\n" + std::string(reference)});
  }
  CHECK(text == Part{"hbm_write = { value = \"5.14 TB/s\", kind = \"measured\", source = \""});
}

TEST_CASE("groups of ranks are read, and say so in the operation's name") {
  const std::string run =
      "run = [{ all_reduce = { size = \"64 MiB\", groups = { size = 4, stride = 2 } } }, "
      "{ all_gather = { size = \"mlp.down.weight\", groups = { size = 2 } } }]\n";
  const Parts parts = {kHead, kModel, "[[stream]]\nname = \"comm\"\n", run, kStrategy};
  const Experiment e = experiment(parts);
  const auto ops = written(e.program).at(0).operations;
  CHECK(ops.at(0).name == "all_reduce 64 MiB in groups of 4, 2 apart");
  CHECK(std::get<CollectiveCall>(ops.at(0).work).groups == RankGroups{4, 2});
  CHECK(ops.at(1).name == "all_gather mlp.down.weight in groups of 2");
  CHECK(std::get<CollectiveCall>(ops.at(1).work).groups == RankGroups{2, 1});
  const ScratchFolder folder;
  const ExperimentFile file = ExperimentFile::load(folder.write("e.toml", joined(parts)));
  const ExperimentFile again = ExperimentFile::load(folder.write("resolved.toml", file.resolved_toml()));
  CHECK(again.make(std::nullopt).program == e.program);
}

TEST_CASE("groups with a mistake are refused where they are written") {
  const auto refused = [](const std::string& keys) {
    return refused_run("{ all_reduce = { size = \"1 MiB\", " + keys + " } }");
  };
  CHECK(refused("groups = { size = 4 }") == "no error");
  CHECK(refused("groups = { size = 4 }, on = [4, 5, 6, 7]") == "no error");
  CHECK(
      refused("groups = { size = 4 }, ranks = [0, 1]") ==
      Part{"9:50: stream.compute.run[0].all_reduce.groups: cannot be given with 'ranks', which is one group"});
  CHECK(refused("groups = { size = 1 }") ==
        Part{"stream.compute.run[0].all_reduce.groups.size: must be between 2 and"});
  CHECK(refused("groups = { size = 2, stride = 0 }") ==
        Part{"stream.compute.run[0].all_reduce.groups.stride: must be between 1 and"});
  CHECK(refused("groups = { stride = 2 }") == Part{"groups.size: is missing"});
  CHECK(refused("groups = { size = 2, strid = 2 }") == Part{"unknown key; did you mean 'stride'?"});
  CHECK(refused("groups = 4") == Part{"groups: must be a table"});
  CHECK(
      refused("groups = { size = 3 }") ==
      Part{"9:8: stream.compute.run[0]: all_reduce: groups of 3 ranks that are 1 apart do not divide 8 ranks"});
  CHECK(refused_run("{ broadcast = { size = \"1 MiB\", groups = { size = 4 } } }") ==
        Part{"stream.compute.run[0]: broadcast: has one root"});
}

TEST_CASE("overrides replace numbers of the presets, wherever the file gives them") {
  const Experiment e =
      experiment({kHead, "[gpu]\nhbm_arbitration = \"byte_fair\"\nxcds = 4\n[node]\ngpus = 4\n",
                  "[library]\nchannels = 28\n[model]\nuse = \"llama-70b\"\ntokens = 1\n",
                  "dtype = \"fp16\"\nlayers = 2\nhidden = 4096\n", kStreams, kStrategy});
  CHECK(e.cluster.gpu.hbm.arbitration == HbmArbitration::byte_fair);
  CHECK(e.cluster.gpu.compute.cus() == 4 * 38);
  CHECK(e.cluster.node.gpus == 4);
  CHECK(e.cluster.library.channels == 28);
  CHECK(*shape_of<GemmShape>(e.program.scripts[0].streams[0][0]) == GemmShape{1, 57344, 4096, DType::fp16});
}

TEST_CASE("an experiment extends another and adds a strategy after those it inherits") {
  const ScratchFolder folder;
  folder.write("base.toml", joined({kHead, kModel, kStreams, kStrategy}));
  const std::string top =
      folder.write("top.toml", "extends = \"base.toml\"\n[strategy.alone]\nserial = true\n");
  const Experiment e = ExperimentFile::load(top).make(std::nullopt);
  CHECK(e.name == "top");
  REQUIRE(e.strategies.size() == 2);
  CHECK(e.strategies[1].name == "alone");
}

TEST_CASE("draws differ from each other, repeat exactly, and move only what is a range") {
  const ExperimentFile file = ExperimentFile::load(main_job());
  const Experiment nominal = file.make(std::nullopt);
  CHECK(file.make(3) == file.make(3));
  CHECK(file.make(3) != file.make(4));
  for (std::uint64_t draw = 0; draw < 100; ++draw) {
    const Experiment e = file.make(draw);
    CHECK(e.cluster.gpu.dma.outstanding >= Bytes{31e3});
    CHECK(e.cluster.gpu.dma.outstanding <= Bytes{93e3});
    CHECK(e.cluster.gpu.hbm.copy >= 3.38_TBps);
    CHECK(e.cluster.gpu.hbm.copy <= 4.2_TBps);
    CHECK(e.cluster.gpu.hbm.read == nominal.cluster.gpu.hbm.read);
    CHECK(e.cluster.node.link.both_ways <= e.cluster.node.link.one_way);
  }
}

TEST_CASE("making an experiment takes less than a millisecond, so that a study may make one for every draw") {
  const ExperimentFile file = ExperimentFile::load(main_job());
  auto fastest = std::chrono::duration<double>(1);
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    const auto start = std::chrono::steady_clock::now();
    file.make(draw);
    fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start));
  }
#ifdef __SANITIZE_ADDRESS__
  CHECK(fastest.count() < 5e-3);
#else
  CHECK(fastest.count() < 1e-3);
#endif
}

TEST_CASE("unknown names are refused with position, what is known, and what may have been meant") {
  const std::string refused = refusal({"schema = 1\nsystem = \"mi300x-9\"\n"});
  CHECK(refused == Part{"2:10: system: unknown node preset 'mi300x-9'; did you mean 'mi300x-8'? known: "});
  CHECK(refused == Part{" more"});
  CHECK(refusal({kHead, kModel, kStreams, kStrategy, "[masure]\n"}) ==
        "14:2: masure: unknown key; did you mean 'measure'?");
  CHECK(refusal({kHead, "[gpu]\nhbm_raed = \"4 TB/s\"\n", kModel, kStreams, kStrategy}) ==
        "4:1: gpu.hbm_raed: unknown key; did you mean 'hbm_read'?");
  CHECK(refusal({kHead, "[model]\nuse = \"lama-70b\"\ntokens = 1\ndtype = \"bf16\"\n", kStreams, kStrategy}) ==
        "4:7: model.use: unknown model preset 'lama-70b'; did you mean 'llama-70b'? known: bert-large, "
        "deepseek-v3, deepseek-v3.2, gemma-4-26b-a4b, gpt-1.7b, gpt-145.6b, gpt-18.4b, gpt-1t, gpt-22b, "
        "gpt-3.6b, gpt-310.1b, gpt-39.1b and 46 more");
  CHECK(refused_run("\"mlp.gateup\"") ==
        "9:8: stream.compute.run[0]: unknown operation 'mlp.gateup'; did you mean 'mlp.gate_up'? known: "
        "attn.qkv, attn.out, mlp.gate_up, mlp.down");
  CHECK(refused_run("{ all_gather = \"mlp.up.weight\" }") ==
        Part{"9:23: stream.compute.run[0].all_gather: unknown operation"});
  CHECK(refused_run("{ permute = \"1 GiB\" }") ==
        Part{"9:10: stream.compute.run[0]: unknown operation 'permute'"});
  CHECK(refused_run("\"mlp.down\", { wait = \"gone\" }") ==
        Part{"9:20: stream.compute.run[1]: unknown event 'gone'; known: none"});
  CHECK(refused_strategy("fspd.cus = 8") ==
        "14:1: strategy.s.fspd: unknown stream 'fspd'; did you mean 'fsdp'? known: compute, fsdp");
  CHECK(refused_strategy("order = [\"fsdp\", \"comptue\"]") ==
        Part{"14:18: strategy.s.order: unknown stream 'comptue'"});
  CHECK(refused_strategy("fsdp.backend = \"sdma\"") ==
        Part{"14:16: strategy.s.fsdp.backend: unknown name 'sdma'; did you mean 'dma'? known: cu, dma"});
}

TEST_CASE("keys of copy engines choose them, and contradict a backend that is another") {
  const auto policy = [](std::string_view keys) {
    return experiment({kHead, kModel, kStreams, "[strategy.s]\n", keys, "\n"})
        .strategies.front()
        .streams.at("fsdp");
  };
  CHECK(policy("fsdp.dma = \"bcst\"\nfsdp.prelaunch = true").dma == DmaOptions{DmaVariant::bcst, true});
  CHECK(policy("fsdp.dma_host = \"node\"").dma == DmaOptions{DmaVariant::pcpy, false, DmaHost::node});
  for (const std::string_view keys :
       {"fsdp.dma = \"b2b\"", "fsdp.prelaunch = false", "fsdp.dma_host = \"gpu\"", "fsdp.backend = \"dma\""})
    CHECK(policy(keys).backend == Backend::dma);
  CHECK(refused_strategy("fsdp.backend = \"cu\"\nfsdp.prelaunch = true") ==
        Part{"15:18: strategy.s.fsdp.prelaunch: requires backend = \"dma\" (it is \"cu\")"});
  CHECK(refused_strategy("fsdp.dma = \"swop\"") == Part{"14:12: strategy.s.fsdp.dma: unknown name 'swop'; did "
                                                        "you mean 'swap'? known: pcpy, bcst, swap, b2b"});
}

TEST_CASE("streams without work, without a name of their own, or with an event recorded twice are refused") {
  CHECK(refused_run("") == "9:7: stream.run: is empty: a stream runs at least one operation");
  CHECK(refused_run("3") ==
        Part{"must be the name of an operation or a table with one key of all_reduce, all_gather"});
  CHECK(refused_run("{ record = \"e\" }") ==
        Part{"9:8: stream: every operation is an event, so there is nothing to time"});
  CHECK(refused_run("{ all_gather = \"896 mib\" }") == Part{"run[0].all_gather: '896 mib' is not a size"});
  CHECK(refused_run("{ all_gather = \"-1 MiB\" }") == Part{"must be above 0, not -1 MiB"});
  CHECK(refused_run("{ gemm = { m = 0, n = 1, k = 1, dtype = \"bf16\" } }") ==
        Part{"gemm.m: must be between 1 and"});
  CHECK(refused_run("{ record = \"e\" }, { record = \"e\" }") == Part{"run[1]: event 'e' is recorded twice"});
  CHECK(refusal({kHead, kModel, kStreams, kStreams, kStrategy}) == Part{"there are two streams 'compute'"});
  CHECK(refusal({kHead, kModel, kStrategy}) == Part{"stream: is missing"});
  CHECK(refusal({kHead, kModel, "[[stream]]\nname = \"order\"\nrun = [\"mlp.down\"]\n", kStrategy}) ==
        Part{"is a key of a strategy"});
  CHECK(refusal({kHead, kModel, "[[stream]]\nname = \"../x\"\nrun = [\"mlp.down\"]\n", kStrategy}) ==
        Part{"must be letters"});
}

TEST_CASE("a search over CU shares stops at what this GPU has, so that an experiment serves many systems") {
  const std::string search = "[strategy.s]\nfsdp.cus = \"best 8..4096\"\n";
  const Experiment job = experiment({kHead, kModel, kStreams, search});
  CHECK(job.strategies.at(0).streams.at("fsdp").cus == CuShare{8, 296});
}

TEST_CASE("CU shares fit the granule of the mask and leave every stream a CU") {
  CHECK(refused_strategy("fsdp.cus = 12") == Part{"14:12: strategy.s.fsdp.cus: 12 is not a multiple of 8"});
  CHECK(refused_strategy("fsdp.cus = 304") == Part{"must be between 8 and 296, not 304"});
  CHECK(refused_strategy("fsdp.cus = \"best 304..512\"") == Part{"needs 8 <= LOW <= 296 and LOW <= HIGH"});
  CHECK(refused_strategy("fsdp.cus = \"best 64..32\"") == Part{"needs 8 <= LOW <= 296 and LOW <= HIGH"});
  CHECK(refused_strategy("fsdp.cus = \"best 12..96\"") == Part{"12 is not a multiple of 8"});
  CHECK(refused_strategy("fsdp.cus = \"8-128\"") == Part{"as in 'best 8..128'"});
  CHECK(refused_strategy("compute.reserve_cus = 4") == Part{"reserve_cus: 4 is not a multiple of 8"});
  CHECK(refused_strategy("fsdp.cus = 200\ncompute.cus = 200") ==
        Part{"the streams' shares add up to more than 304 CUs"});
  CHECK(refused_strategy("fsdp.cus = 256\ncompute.reserve_cus = 48") ==
        Part{"leaves stream 'compute' none of the 304 CUs"});
  CHECK(refused_strategy("fsdp.cus = 152\ncompute.cus = 152") == "no error");
  CHECK(refused_strategy("order = [\"fsdp\"]") == Part{"must name every stream once"});
  CHECK(refused_strategy("order = [\"fsdp\", \"fsdp\"]") == Part{"names 'fsdp' twice"});
}

TEST_CASE("counts are bounded and the message says by what") {
  CHECK(refusal({kHead, "[node]\ngpus = 1_000_000_000\n", kModel, kStreams, kStrategy}) ==
        "4:8: node.gpus: must be between 1 and 256, not 1000000000");
  CHECK(refusal({kHead, kModel, kStreams, kStrategy, "[measure]\nseeds = 0\n"}) ==
        Part{"measure.seeds: must be between 1 and 1000"});
  CHECK(refusal({"schema = 2\nsystem = \"mi300x-8\"\n", kModel, kStreams, kStrategy}) ==
        Part{"1:10: schema: must be between 1 and 1"});
  CHECK(refusal({"system = \"mi300x-8\"\n", kModel, kStreams, kStrategy}) == Part{"schema: is missing"});
  CHECK(refusal({"schema = 1\n", kModel, kStreams, kStrategy}) == Part{"1:1: system: is missing"});
}

TEST_CASE("a range whose draws would contradict another number is refused when the file is loaded") {
  const std::string_view node =
      "[node]\nlink_one_way = { low = \"40 GB/s\", nominal = \"48 GB/s\", high = \"48 GB/s\" }\n";
  CHECK(refusal({kHead, node, kModel, kStreams, kStrategy}) == "no error");
  CHECK(refusal({kHead, node, kModel, kStreams, kStrategy, "[measure]\ndraws = 50\n"}) ==
        Part{"node.link_both_ways: must not be above link_one_way"});
}

}  // namespace
}  // namespace c3::config_experiment_test
