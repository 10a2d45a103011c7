// The study of training steps: its table of measured steps, and what is counted by hand.

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "configs/experiment_reader.hpp"
#include "studies/training/measured_gpts.hpp"
#include "studies/training/memory_layouts.hpp"
#include "studies/training/memory_verdicts.hpp"
#include "studies/training/step_checks.hpp"
#include "studies/training/step_numbers.hpp"
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
    const StepFacts& facts = *layout.experiment.step;
    CHECK_FALSE(facts.fits());
    // The count is of one moment, at the head; that of products of attention may need more.
    const double simulated = facts.memory.bytes / facts.memory_size;
    CHECK(simulated > 0.998 * layout.needed);
    if (facts.memory.moment.ends_with("head")) CHECK(simulated < 1.004 * layout.needed);
  }
}
