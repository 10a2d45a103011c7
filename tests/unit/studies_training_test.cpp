// The study of training steps: its table of measured steps, and what is counted by hand.

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/training/first_table.hpp"
#include "studies/training/gpt_pieces.hpp"
#include "studies/training/measured_gpts.hpp"
#include "studies/training/memory_layouts.hpp"
#include "studies/training/memory_verdicts.hpp"
#include "studies/training/step_checks.hpp"
#include "studies/training/step_numbers.hpp"
#include "studies/training/step_scores.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workloads/training/training_step.hpp"

using namespace c3;
using namespace c3::literals;

namespace {

constexpr const char* kHeader =
    "# GPUs,global batch,micro batch,hidden size,attention heads,# layers,sequence length,tensor "
    "parallelism,data "
    "parallelism,pipeline parallelism,iteration time (ms)\n";

std::vector<MeasuredGpt> read(const std::string& rows, std::vector<std::string>& broken) {
  const TemporaryFolder folder;
  const auto file = folder / "gpts.csv";
  std::ofstream(file) << kHeader << rows;
  return read_measured_gpts(file, broken);
}

}  // namespace

TEST_CASE("steps without a pipeline are taken from a table whose header is a comment") {
  std::vector<std::string> broken;
  const auto rows = read(
      "4,32,2,2048,16,16,1024,2,2,1,406.355\n"
      "2,16,8,1024,16,24,1024,1,1,2,372.16\n",
      broken);
  CHECK(broken.empty());
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().name() == "h2048 l16 tp2 dp2 mb2 gb32");
  CHECK(rows.front().measured / 1.0_ms == doctest::Approx(406.355));
}

TEST_CASE("a broken row is told with its place, the others are taken") {
  std::vector<std::string> broken;
  const auto rows = read(
      "4,32,2,2048,16,16,1024,2,2,1,\n"
      "4,32,2,2048,16,16,1024,2,2,1,406\n",
      broken);
  CHECK(rows.size() == 1);
  REQUIRE(broken.size() == 1);
  CHECK(broken.front().find("gpts.csv:2:") != std::string::npos);
  CHECK(broken.front().find("iteration time (ms): must be a number above 0") != std::string::npos);
}

TEST_CASE("a row whose ranks or batches do not multiply up is told with its place") {
  std::vector<std::string> broken;
  const auto rows = read(
      "4,32,2,2048,16,16,1024,2,4,1,406\n"  // 2 x 4 ranks on 4 GPUs
      "4,2,2,2048,16,16,1024,2,2,1,406\n"   // 2 x 2 sequences at once of 2
      "4,30,2,2048,16,16,1024,2,2,1,406\n"  // of 30
      "4,32,2,2048,16,16,1024,2,,1,406\n"   // no data parallelism
      "4,32,2,2048,16,16,1024,2,2,1,406\n",
      broken);
  CHECK(rows.size() == 1);
  REQUIRE(broken.size() == 4);
  const auto tells = [&](std::size_t row, const std::string& place, const std::string& what) {
    CAPTURE(broken[row]);
    CHECK(broken[row].find("gpts.csv:" + place) != std::string::npos);
    CHECK(broken[row].find(what) != std::string::npos);
  };
  tells(0, "2:26: data parallelism:", "4 times tensor parallelism 2 is not 4 GPUs");
  tells(1, "3:3: global batch:", "2 is not a multiple of micro batch 2 times data parallelism 2");
  tells(2, "4:3: global batch:", "30 is not a multiple");
  tells(3, "5:26: data parallelism:", "must be a whole number");
}

TEST_CASE("a row sets model, ranks and batches of the frame") {
  const Experiment frame =
      ExperimentFile::load(experiment_of_study("training", "gpt_a100.toml")).make(std::nullopt);
  const Experiment step = step_of({.hidden = 2048,
                                   .heads = 16,
                                   .layers = 3,
                                   .sequence = 1024,
                                   .global_batch = 32,
                                   .micro_batch = 2,
                                   .gpus = 4,
                                   .tensor_parallel = 2,
                                   .measured = 1.0_ms},
                                  frame);
  CHECK(step.cluster.ranks() == 4);
  CHECK(training_of(step).model.ffn == 8192);
  CHECK(training_of(step).micro_batches == 8);  // 32 sequences, 2 at once on each of 2 data-parallel ranks
  CHECK(step.step->tokens == 32 * 1024);
}

TEST_CASE("pieces of a micro-batch are told by steps that differ in layers and micro-batches") {
  // Measured 5 + m (2 + 3 L) ms for m micro-batches of L layers, here 1 + m (1 + 4 L).
  std::vector<SimulatedGpt> steps;
  for (const std::int64_t layers : {12, 16, 24}) {
    for (const std::int64_t count : {2, 4}) {
      const auto m = static_cast<double>(count), l = static_cast<double>(layers);
      steps.push_back({.of = {.hidden = 1024,
                              .heads = 16,
                              .layers = layers,
                              .sequence = 1024,
                              .global_batch = count * 8,
                              .micro_batch = 4,
                              .gpus = 4,
                              .tensor_parallel = 2,
                              .measured = (5.0 + m * (2.0 + 3.0 * l)) * 1.0_ms},
                       .here = (1.0 + m * (1.0 + 4.0 * l)) * 1.0_ms});
    }
  }
  const std::vector<GptPiece> pieces = gpt_pieces(steps);
  REQUIRE(pieces.size() == 2);
  CHECK(pieces[0].name == "4 GPUs h1024 tp2 mb4 layer");
  CHECK(pieces[0].measured / 1.0_ms == doctest::Approx(3.0));
  CHECK(pieces[0].here / 1.0_ms == doctest::Approx(4.0));
  CHECK(pieces[1].kind == GptPieceKind::rest);
  CHECK(pieces[1].measured / 1.0_ms == doctest::Approx(2.0));
  CHECK(pieces[1].here / 1.0_ms == doctest::Approx(1.0));

  std::erase_if(steps, [](const SimulatedGpt& step) { return step.of.layers != 12; });
  const std::vector<GptPiece> whole = gpt_pieces(steps);
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].kind == GptPieceKind::whole);
  CHECK(whole[0].measured / 1.0_ms == doctest::Approx(38.0));  // 2 + 3 x 12
}

TEST_CASE("an interval is between the 5 % and the 95 % quantile of draws, and absent without any") {
  std::vector<double> drawn;
  for (int i = 0; i <= 20; ++i)
    drawn.push_back(1.0 + 0.1 * i);
  const StepTime time = time_with_interval(Seconds{2.0}, drawn);
  CHECK(time.p5.value().value == doctest::Approx(1.1));
  CHECK(time.p95.value().value == doctest::Approx(2.9));
  CHECK_FALSE(time_with_interval(Seconds{2.0}, {}).p5.has_value());
}

TEST_CASE("first.csv is read by set and row, with or without an interval") {
  const TemporaryFolder folder;
  const auto file = folder / "first.csv";
  std::ofstream(file) << "set,row,here_ms,p5_ms,p95_ms\nmpt,1b s512 mb56,12.5,11,14\npieces,whole,3,,\n";
  const FirstTable first(file);
  CHECK(first.find("mpt", "1b s512 mb56").value().here / 1.0_ms == doctest::Approx(12.5));
  CHECK(first.find("mpt", "1b s512 mb56").value().p95.value() / 1.0_ms == doctest::Approx(14.0));
  CHECK_FALSE(first.find("pieces", "whole").value().p5.has_value());
  CHECK_FALSE(first.find("pieces", "1b s512 mb56").has_value());
}

TEST_CASE("the median is a whole sample: what is told beside its time is of the same run") {
  struct Sample {
    double time, idle;
  };
  const std::vector<Sample> samples = {{3.0, 0.3}, {1.0, 0.1}, {4.0, 0.4}, {2.0, 0.2}};
  CHECK(median_of(samples, &Sample::time).time == 2.0);  // of an even number the lower one
  CHECK(median_of(samples, &Sample::time).idle == 0.2);
  CHECK(median_of(std::vector{5.0, 9.0, 7.0}) == 7.0);
}

TEST_CASE("memory of LLaMA 3 8B is what a count of its tensors says") {
  // 8.030 G parameters: 12 B each over 8 ranks are 12.05 GB; logits of 16,384 tokens and 128,256 words in fp32
  // are 8.41 GB, three times; 33 tensors of 16,384 x 4,096 in bf16 are 4.43 GB, the root's 1.05 G parameters in
  // bf16 2.10 GB, twice.
  const Experiment step =
      ExperimentFile::load(experiment_of_study("training", "llama3_8b_fsdp8.toml")).make(std::nullopt);
  const Bytes counted = closed_form_memory(training_of(step), step.cluster.ranks());
  CHECK(counted.value ==
        doctest::Approx(12.045e9 + 25.216e9 + 4.429e9 + 4.203e9 + 0.537e9 + 0.436e9).epsilon(1e-3));
}

TEST_CASE("thirty layouts that need 3 to 10 % more than there is, by a count of their tensors, are refused") {
  const std::vector<LargeLayout> layouts = layouts_too_large();
  CHECK(layouts.size() == 30);
  for (const LargeLayout& layout : layouts) {
    CAPTURE(layout.name);
    CHECK(layout.needed >= 1.03);
    CHECK(layout.needed <= 1.10);
    const StepFacts& facts = layout.facts;
    CHECK_FALSE(facts.fits());
    // The count is of one moment, at the head; that of products of attention may need more.
    const double simulated = facts.memory.bytes / facts.memory_size;
    CHECK(simulated > 0.998 * layout.needed);
    if (facts.memory.moment.ends_with("head")) CHECK(simulated < 1.004 * layout.needed);
  }
}
