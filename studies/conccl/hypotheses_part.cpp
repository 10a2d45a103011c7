#include "studies/conccl/hypotheses_part.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "configs/jobs/experiment_reader.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kPercent = 100.0;
constexpr std::uint64_t kSeed = 0;  // the same for all: what differs is the mechanism

constexpr std::array kRungsRun = {Rung::base,  Rung::base_round_robin, Rung::sp,      Rung::rp,
                                  Rung::sp_rp, Rung::conccl,           Rung::conccl_8};
constexpr std::array<std::string_view, 5> kBeside = {"base", "base.round_robin", "sp", "rp", "conccl_8"};

/// Differences of shares that are judged in the ladder.
struct Gap {
  std::string_view label, lower, upper;
};
constexpr std::array<Gap, 3> kGaps = {
    {{"ConCCL - SP", "sp", "conccl"}, {"RP - SP", "sp", "rp"}, {"8 removed - ConCCL", "conccl", "conccl_8"}}};

/// Measured mechanisms, each as it was before: "Not to be touched after the first ladder" in the README.
const std::vector<Hypothesis>& without_measured() {
  static const std::vector<Hypothesis> kWithout = [] {
    std::vector<Hypothesis> list = {
        {"without.tiles",
         "without hipBLASLt's tiles",
         {"gpu.matrix_tiles=[\"256x256x64 w8\", \"256x128x64 w8\", \"128x256x64 w8\", \"128x128x64 w4\"]",
          "gpu.kernels.matrix_gemm.operand_cdna3=50.9"}},
        {"without.channel_rate", "channels at 7.9 GB/s", {"library.channel_rate=7.9 GB/s"}},
        {"without.clock_share", "half of a channel by the clock", {"library.clock_share=0.5"}}};
    Hypothesis all{"without.all", "without all three", {}};
    for (const Hypothesis& each : list)
      all.sets.insert(all.sets.end(), each.sets.begin(), each.sets.end());
    list.push_back(all);
    return list;
  }();
  return kWithout;
}

}  // namespace

HypothesesPart::HypothesesPart(const std::vector<Scenario>& scenarios, const std::filesystem::path& file)
    : cases_(scenarios, rungs_of(kRungsRun)) {
  rows_.push_back({{"off", "as in the ladder", {}}, cases_.add(under({}, file), kSeed)});
  for (const std::vector<Hypothesis>* list : {&hypotheses(), &without_measured()}) {
    for (const Hypothesis& mechanism : *list)
      rows_.push_back({mechanism, cases_.add(under(mechanism, file), kSeed)});
  }
}

double HypothesesPart::share(std::size_t number, std::string_view strategy) const {
  return kPercent * mean_of_shares(cases_.speedups(number, study_strategy(strategy)));
}

double HypothesesPart::largest_speedup(std::size_t number) const {
  double largest = 0.0;
  for (const std::string_view strategy : {"base", "sp", "rp", "sp_rp", "conccl", "conccl_8"})
    largest = std::max(largest, max_speedup(cases_.speedups(number, study_strategy(strategy))));
  return largest;
}

StudyLine HypothesesPart::line(const PublishedFigures& published, const Row& row) const {
  StudyLine line{.figure = {.of = published.find(fmt::format("hypotheses.{}", row.mechanism.id)),
                            .simulated = share(row.number, "conccl")},
                 .label = std::string(row.mechanism.label)};
  for (const std::string_view strategy : kBeside)
    line.beside.emplace_back(study_strategy(strategy).label, share(row.number, strategy));
  line.beside.emplace_back("maximum [x]", largest_speedup(row.number));
  return line;
}

StudyLine HypothesesPart::change(const PublishedFigures& published, const Row& row) const {
  const auto moved = [&](std::string_view strategy) {
    return share(row.number, strategy) - share(0, strategy);
  };
  StudyLine line{.figure = {.of = published.find(fmt::format("hypotheses.change.{}", row.mechanism.id)),
                            .simulated = moved("conccl")},
                 .label = std::string(row.mechanism.label)};
  for (const std::string_view strategy : kBeside)
    line.beside.emplace_back(study_strategy(strategy).label, moved(strategy));
  for (const Gap& gap : kGaps)
    line.beside.emplace_back(gap.label, moved(gap.upper) - moved(gap.lower));
  return line;
}

StudyReport HypothesesPart::sections(const PublishedFigures& published) const {
  StudySection shares{
      .heading = fmt::format("Hypotheses and measured mechanisms: share of the ideal, {} scenarios",
                             cases_.scenarios().size()),
      .lines = {},
      .notes = {"Nominal values, one seed; hypotheses at the end of their ranges that costs most. "
                "Never judged: the ladder above has all hypotheses off."},
      .value = "ConCCL"};
  StudySection changes{.heading = "The same in points, from the ladder's",
                       .lines = {},
                       .notes = {"The last three columns are what moves the judged gaps."},
                       .value = "ConCCL"};
  for (const Row& row : rows_) {
    shares.lines.push_back(line(published, row));
    if (row.number != 0) changes.lines.push_back(change(published, row));
  }
  return {std::move(shares), std::move(changes)};
}

}}  // namespace c3::studies
