// The study of training steps: its tables of measured steps.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "configs/jobs/experiment_reader.hpp"
#include "studies/training/gpt_pieces.hpp"
#include "studies/training/measured_gpts.hpp"
#include "studies/training/measured_steps.hpp"
#include "studies/training/step_scores.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workloads/training/training_step.hpp"

namespace c3::studies_training_test {

using namespace literals;

namespace {

constexpr const char* kHeader =
    "# GPUs,global batch,micro batch,hidden size,attention heads,# layers,sequence length,tensor "
    "parallelism,data "
    "parallelism,pipeline parallelism,iteration time (ms)\n";

std::vector<MeasuredStep> read(const std::string& rows, std::vector<std::string>& broken) {
  const TemporaryFolder folder;
  const auto file = folder / "gpts.csv";
  std::ofstream(file) << kHeader << rows;
  const auto frame = std::make_shared<const Experiment>(
      ExperimentFile::load(experiment_of_study("training", "gpt_a100.toml")).make(std::nullopt));
  return read_measured_gpts(file, frame, broken);
}

FirstTable first_of(const TemporaryFolder& folder, const std::string& rows) {
  const auto file = folder / "first.csv";
  std::ofstream(file) << "set,row,here_ms,p5_ms,p95_ms\n" << rows;
  return FirstTable(file);
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
  CHECK(rows.front().row == "h2048 l16 tp2 dp2 mb2 gb32");
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
  std::vector<std::string> broken;
  const Experiment step = read("4,32,2,2048,16,3,1024,2,2,1,1\n", broken).at(0).make(std::nullopt);
  CHECK(step.cluster.ranks() == 4);
  CHECK(training_of(step).model.ffn == 8192);
  CHECK(training_of(step).micro_batches == 8);  // 32 sequences, 2 at once on each of 2 data-parallel ranks
  CHECK(step.step->tokens == 32 * 1024);
}

TEST_CASE("pieces of a micro-batch are told by steps that differ in layers and micro-batches") {
  // Measured 5 + m (2 + 3 L) ms for m micro-batches of L layers, here 1 + m (1 + 4 L).
  std::vector<SimulatedStep> steps;
  for (const std::int64_t layers : {12, 16, 24}) {
    for (const std::int64_t count : {2, 4}) {
      const auto m = static_cast<double>(count), l = static_cast<double>(layers);
      MeasuredStep measured{.measured = (5.0 + m * (2.0 + 3.0 * l)) * 1.0_ms};
      measured.gpt = {.hidden = 1024,
                      .layers = layers,
                      .micro_batch = 4,
                      .micro_batches = count,
                      .gpus = 4,
                      .tensor_parallel = 2};
      steps.push_back({.reference = measured, .now = StepTime{.here = (1.0 + m * (1.0 + 4.0 * l)) * 1.0_ms}});
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

  std::erase_if(steps, [](const SimulatedStep& step) { return step.reference.gpt->layers != 12; });
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
  const FirstTable first = first_of(folder, "mpt,1b s512 mb56,12.5,11,14\npieces,whole,3,,\n");
  CHECK(first.find("mpt", "1b s512 mb56").value().here / 1.0_ms == doctest::Approx(12.5));
  CHECK(first.find("mpt", "1b s512 mb56").value().p95.value() / 1.0_ms == doctest::Approx(14.0));
  CHECK_FALSE(first.find("pieces", "whole").value().p5.has_value());
  CHECK_FALSE(first.find("pieces", "1b s512 mb56").has_value());
}

TEST_CASE("a measured step is a row of steps.csv, with what its source sets of the measured row") {
  const TemporaryFolder folder;
  setenv("C3SIM_CONFIGS", (folder / ".").c_str(), 1);
  std::filesystem::create_directories(folder / "studies/training");
  std::filesystem::create_directories(folder / "training");
  std::ofstream(folder / "studies/training/sources.csv")
      << "name,table,settings,measured_ms,in_use_gib,reserved_gib\n"
         "t,training/t.csv,training.sequence=${seq len},1e3 * seq_len / rate.1,,gib\n";
  std::ofstream(folder / "studies/training/steps.csv")
      << "set,row,group,ranked,judged,frame,settings,source,find\n"
         "s,one,g,,,gpt_a100.toml,model.layers=2; node.gpus=4,t,seq len=512; gpu~100\n"
         "s,two,g,r,no,gpt_a100.toml,,t,gpu=H100\n"
         "s,none,g,,,gpt_a100.toml,,t,gpu=B200\n";
  std::ofstream(folder / "training/t.csv")
      << "gpu,seq len,rate,gib\nA100,512,1024 (256),1.5\nH100,1024,9 (512),\n";
  std::vector<std::string> broken;
  const FirstTable first = first_of(folder, "s,one,12,,\n");
  const auto steps = read_measured_steps("training", folder / ".", first, broken);
  unsetenv("C3SIM_CONFIGS");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].sets == std::vector<std::string>{"training.sequence=512", "model.layers=2", "node.gpus=4"});
  CHECK(steps[0].measured / 1.0_ms == doctest::Approx(2000.0));
  CHECK(steps[0].reserved.value().value == doctest::Approx(1.5 * 1024 * 1024 * 1024));
  CHECK(steps[0].first.value().here / 1.0_ms == doctest::Approx(12.0));
  CHECK(training_of(steps[0].make(std::nullopt)).sequence == 512);
  CHECK(steps[0].is_judged);
  CHECK_FALSE(steps[1].is_judged);
  CHECK(steps[1].ranked == "r");
  CHECK_FALSE(steps[1].reserved.has_value());
  REQUIRE(broken.size() == 1);
  CHECK(broken.front().find("steps.csv:4:") != std::string::npos);
  CHECK(broken.front().find("find: 0 rows of ") != std::string::npos);
}

}  // namespace c3::studies_training_test
