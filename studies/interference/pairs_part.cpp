#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/percent.hpp"
#include "configs/jobs/experiment_reader.hpp"
#include "engine/units.hpp"
#include "studies/checked_row.hpp"
#include "studies/interference/parts.hpp"
#include "workloads/analysis/study.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

constexpr std::string_view kWhat = "for a pair alone and together";
/// The serial strategy gives both sides alone, on as many channels; the other has them together.
SimulatedTime simulated(const ExperimentFile& file, int channels) {
  const StudyResult result =
      run_study([&](std::optional<std::uint64_t> draw) { return with_channels(file.make(draw), channels); });
  const StrategyResult& serial = result.strategies.at(0);
  const StrategyResult& together = result.strategies.at(1);
  return {.values = {serial.kernel.value().together.value, together.kernel.value().together.value,
                     serial.collective.value().together.value, together.collective.value().together.value}};
}

double error(double ours, double measured) { return kPercent * (ours / measured - 1.0); }

}  // namespace

Experiment with_channels(Experiment experiment, int channels) {
  for (Strategy& strategy : experiment.strategies)
    strategy.streams["collective"].method.channels.most = channels;
  return experiment;
}

PairsPart::PairsPart(const std::filesystem::path& file) {
  const HeadedTable table(file);
  for (const HeadedTable::Row& table_row : table.rows()) {
    const CheckedRow row(table, table_row, kWhat);
    const int channels = static_cast<int>(row.whole("channels", 1024));
    if (channels > kMostChannels) continue;
    const auto time = [&row](std::string_view column) { return row.above_0(column) * 1.0_ms; };
    rows_.push_back({.channels = channels,
                     .gemm = {time("torch_alone_ms"), time("torch_gemm_overlap_ms")},
                     .collective = {time("comm_alone_ms"), time("torch_comm_overlap_ms")},
                     .our_gemm = {},
                     .our_collective = {}});
  }
}

void PairsPart::plan(SimulationJobs& jobs) {
  const auto file =
      std::make_shared<const ExperimentFile>(ExperimentFile::load(study_file("interference", "pair.toml")));
  for (Row& row : rows_) {
    jobs.push_back({.run = [file, channels = row.channels] { return simulated(*file, channels); },
                    .take =
                        [&row](const SimulatedTime& taken) {
                          row.our_gemm = {Seconds{taken.values.at(0)}, Seconds{taken.values.at(1)}};
                          row.our_collective = {Seconds{taken.values.at(2)}, Seconds{taken.values.at(3)}};
                        }});
  }
}

StudySection PairsPart::side_section(const PublishedFigures& published, bool of_gemm) const {
  const std::string id = of_gemm ? "gemm" : "collective";
  StudySection section{.heading = of_gemm ? "The GEMM beside the all-reduce: time over its time alone"
                                          : "The all-reduce beside the GEMM: time over its time alone",
                       .lines = {},
                       .notes = {},
                       .value = "slower",
                       .decimals = 2};
  double alone = 0.0, slower = 0.0;
  std::size_t judged = 0;
  for (const Row& row : rows_) {
    const Side& measured = row.side(of_gemm);
    const Side& ours = row.ours(of_gemm);
    const double of_alone = error(ours.alone.value, measured.alone.value);
    const double of_slowdown = error(ours.slowdown(), measured.slowdown());
    if (row.channels >= kFewestJudged) {
      ++judged;
      alone += std::abs(of_alone);
      slower += std::abs(of_slowdown);
    }
    section.lines.push_back(
        {.figure = {.reference = published.find(id + ".slowdown"), .simulated = ours.slowdown()},
         .label = fmt::format("{} channels", row.channels),
         .rows = 1,
         .beside = {{"measured", measured.slowdown()},
                    {"error [%]", of_slowdown},
                    {"alone [ms]", ours.alone / 1.0_ms},
                    {"measured alone [ms]", measured.alone / 1.0_ms},
                    {"error alone [%]", of_alone}}});
  }
  const double rows = static_cast<double>(std::max<std::size_t>(judged, 1));
  // The channel's rate alone is set from 2 and 4 channels, its dependence on the clock from the time together.
  const FigureKind kind = of_gemm ? FigureKind::predicted : FigureKind::fitted;
  section.lines.push_back(
      {.figure = {.reference = published.find(id + ".error"), .kind = kind, .simulated = slower / rows},
       .label = fmt::format("mean error from {} channels", kFewestJudged),
       .rows = judged});
  section.lines.push_back(
      {.figure = {.reference = published.find(id + ".error_alone"), .simulated = alone / rows},
       .label = fmt::format("mean error alone from {} channels", kFewestJudged),
       .rows = judged});
  return section;
}

StudyReport PairsPart::sections(const PublishedFigures& published) const {
  StudySection gemm = side_section(published, true);
  gemm.notes = {
      "8192 x 8192 x 8192 in bf16 beside an all-reduce of 512 MiB that began before it. Below 16 channels "
      "the GEMM needs no further wave; that it is slower all the same is not explained."};
  StudySection collective = side_section(published, false);
  collective.notes = {"Measured times hold the wait for the slowest of eight GPUs; ours are all alike."};
  return {std::move(gemm), std::move(collective)};
}

}}  // namespace c3::studies
