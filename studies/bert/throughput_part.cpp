// NVIDIA's results of MLPerf training 0.7.

#include <fmt/format.h>

#include "studies/bert/parts.hpp"
#include "studies/checked_row.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr std::string_view kWhat = "of a result of MLPerf";
constexpr std::int64_t kLargest = 1 << 20;
constexpr double kPercent = 100.0;

}  // namespace

ThroughputPart::ThroughputPart(const std::filesystem::path& file) {
  const std::filesystem::path frame = experiment_of_study("bert", "mlperf_v07.toml");
  const HeadedTable table(file);
  for (const HeadedTable::Row& each : table.rows()) {
    const CheckedRow row(table, each, kWhat);
    std::vector<std::string> sets = {fmt::format("system=\"{}\"", row.text("system"))};
    const std::int64_t nodes = row.whole("nodes", kLargest);
    if (nodes > 1) sets.push_back(fmt::format("+nodes={}", nodes));
    for (const char* key : {"micro_batch", "micro_batches", "sequence", "predictions"})
      sets.push_back(fmt::format("training.{}={}", key, row.whole(key, kLargest)));
    Row found{.id = row.text("id"),
              .label = row.text("label"),
              .step = ExperimentFile::load(frame, sets).make(std::nullopt),
              .times = {}};
    found.sequences =
        static_cast<double>(row.whole("micro_batch", kLargest) * row.whole("micro_batches", kLargest)) *
        found.step.cluster.ranks();
    rows_.push_back(std::move(found));
  }
}

void ThroughputPart::plan(SimulationJobs& jobs) {
  for (Row& row : rows_)
    jobs.push_back(whole_step(row.step, row.times));
}

StudySection ThroughputPart::section(const PublishedFigures& published) const {
  StudySection section{
      .heading = "MLPerf training 0.7, BERT: sequences a second",
      .lines = {},
      .notes = {"exposed: ranks communicate and no kernel runs; idle: a GPU waits for its host."}};
  for (const Row& row : rows_) {
    StudyLine line{.figure = {.of = published.find("throughput." + row.id),
                              .simulated = row.sequences / row.times.time.value},
                   .label = row.label};
    line.beside = {{"step [ms]", row.times.time.value * 1e3},
                   {"exposed [%]", kPercent * (row.times.exposed / row.times.time)},
                   {"idle [%]", kPercent * (row.times.idle / row.times.time)}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

}}  // namespace c3::studies
