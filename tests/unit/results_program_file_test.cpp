// The file of a recorded run: what is written is read back, operators of every class among it.

#include <doctest/doctest.h>

#include "files/io_error.hpp"
#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "gpu/kernels/vector/vector_shape.hpp"
#include "results/program_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace c3::results_program_file_test {
namespace {

RecordedRun run_with(std::vector<RecordedOperator> operators) {
  RecordedRun run;
  run.names = {"", "kernel", "thread", "rule", "reason"};
  run.streams = {"stream7"};
  run.starts_at_release = true;
  run.operators = std::move(operators);
  RecordedRank& rank = run.ranks.emplace_back();
  rank.threads = {2};
  rank.points = {{.thread = 0, .date = {}, .cost = {5}}};
  for (std::uint32_t i = 0; i < run.operators.size(); ++i)
    rank.work.push_back({.name = 1, .op = i, .duration = {100 + i}, .launch = 0});
  rank.work.push_back({.name = 1, .duration = {7}, .launch = 0});  // nothing is known of it
  return run;
}

}  // namespace

TEST_CASE("a program file gives back the run, with the operators of all classes") {
  const RecordedRun run =
      run_with({{.op = GemmShape{4096, 512, 1024, DType::fp16, 12}, .note = 3},
                {.op = AttentionShape{.batch = 2,
                                      .heads = 32,
                                      .kv_heads = 8,
                                      .queries = 100,
                                      .keys = 2048,
                                      .head_dim = 128,
                                      .causal = true,
                                      .pass = Pass::backward,
                                      .kernel = AttentionKernel::flash2},
                 .note = 3},
                {.op = VectorShape{VectorOp::layernorm, 4096, 1024, DType::bf16, Pass::backward}, .note = 3},
                {.op = VectorShape{VectorOp::adam, 1, 1 << 30, DType::fp32}, .note = 3},
                {.op = GemmShape{.m = 64, .n = 64, .k = 64}, .in_another = true, .note = 3},
                {.note = 4}});
  const TemporaryFolder folder;
  write_program_file(folder / "program.h5", run, "c3sim import");
  CHECK(read_program_file(folder / "program.h5") == run);
}

TEST_CASE("a program file keeps what each pair of ranks moves, and refuses pairs that are missing") {
  RecordedRun run = run_with({});
  run.ranks.push_back(run.ranks.front());
  run.ranks[1].number = 1;
  run.collectives.push_back({.name = 1, .bytes = 8, .members = {0, 1}, .sends = {1, 7, 5, 0}});
  for (RecordedRank& rank : run.ranks)
    rank.work.front().collective = 0;
  const TemporaryFolder folder;
  write_program_file(folder / "program.h5", run, "c3sim import");
  CHECK(read_program_file(folder / "program.h5") == run);
  run.collectives.front().sends.pop_back();
  write_program_file(folder / "short.h5", run, "c3sim import");
  CHECK_THROWS_WITH_AS(read_program_file(folder / "short.h5"),
                       doctest::Contains("table 'sends' does not have one size for each pair of members"),
                       IoError);
}

TEST_CASE("a run without work that computes has a program file, too") {
  const TemporaryFolder folder;
  write_program_file(folder / "program.h5", run_with({}), "c3sim import");
  CHECK(read_program_file(folder / "program.h5") == run_with({}));
}

}  // namespace c3::results_program_file_test
