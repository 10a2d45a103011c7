#include "studies/collectives/experts_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

#include "base/statistics.hpp"
#include "collectives/measure.hpp"
#include "importers/collective_times/error_score.hpp"
#include "studies/checked_row.hpp"
#include "studies/collectives/table_run.hpp"
#include "studies/collectives/table_sections.hpp"

namespace c3 { inline namespace studies {
namespace {

using namespace literals;

std::string way_of(bool combine) { return combine ? "combine" : "dispatch"; }

constexpr std::int64_t kMost = 1'000'000'000;

ExpertShape shape_of(const CheckedRow& row, int ranks) {
  const auto whole = [&](std::string_view column) { return static_cast<int>(row.whole(column, kMost)); };
  const ExpertShape shape{whole("hidden_size"), whole("num_topk"), whole("num_experts")};
  if (shape.experts % ranks != 0 || shape.chosen > shape.experts)
    row.fail("num_experts", fmt::format("{} cannot be divided among {} ranks, {} of them a token",
                                        shape.experts, ranks, shape.chosen));
  return shape;
}

}  // namespace

bool is_expert_table(const HeadedTable& file) {
  return file.find({"num_token"}) && file.find({"dispatch_sms"});
}

double destinations(const ExpertShape& shape, int ranks) {
  const int elsewhere = shape.experts - shape.experts / ranks;
  double none = 1.0;  // that a given rank has none of the chosen
  for (int i = 0; i < shape.chosen; ++i)
    none *= std::max(0.0, static_cast<double>(elsewhere - i)) / (shape.experts - i);
  return ranks * (1.0 - none);
}

Bytes dispatched_token(const ExpertShape& shape) {
  constexpr double kValuesOfAScale = 128.0, kScale = 4.0;
  return Bytes{shape.hidden * (1.0 + kScale / kValuesOfAScale)};
}

Bytes combined_token(const ExpertShape& shape) { return element_size(DType::bf16) * shape.hidden; }

ExpertsPart::Sweep& ExpertsPart::sweep_of(const ExpertShape& shape, bool combine,
                                          const std::shared_ptr<const ClusterSpec>& cluster) {
  const auto found = std::ranges::find_if(sweeps_, [&](const Sweep& sweep) {
    return sweep.shape == shape && sweep.combine == combine && sweep.cluster == cluster;
  });
  if (found != sweeps_.end()) return *found;
  return sweeps_.emplace_back(Sweep{.shape = shape, .combine = combine, .cluster = cluster});
}

void ExpertsPart::add(const HeadedTable& file, const MapEntry& entry) {
  const auto cluster = load_system(entry);
  const int ranks = cluster->ranks();
  const double others = (ranks - 1.0) / ranks;
  std::ranges::copy(file.broken(), std::back_inserter(broken_));
  const auto nodes = file.find({"node_num"});
  for (const HeadedTable::Row& row : file.rows()) {
    if (nodes && row.cells[*nodes] != std::to_string(cluster->nodes)) continue;
    try {
      const CheckedRow cell(file, row, "tables of DeepEP have it");
      const ExpertShape shape = shape_of(cell, ranks);
      const double copies =
          static_cast<double>(cell.whole("num_token", kMost)) * destinations(shape, ranks) * others;
      for (const bool combine : {false, true}) {
        const std::string way = way_of(combine);
        const Bytes token = combine ? combined_token(shape) : dispatched_token(shape);
        sweep_of(shape, combine, cluster)
            .rows.push_back(
                {.sms = static_cast<int>(cell.whole(way + "_sms", kMost)),
                 .sent = token * copies,
                 .measured = (cell.above_0(way + "_transmit_us") + cell.from_0(way + "_notify_us")) * 1.0_us});
      }
    } catch (const ConfigError& error) {
      broken_.emplace_back(error.what());
    }
  }
  const auto settled = [&](Sweep& sweep) {
    if (sweep.cluster != cluster || set_rate(sweep)) return false;
    broken_.push_back(fmt::format("{}: hidden {}, {} of {} experts: no rows on {} SMs to set the rate by",
                                  file.file(), sweep.shape.hidden, sweep.shape.chosen, sweep.shape.experts,
                                  kReferenceSms));
    return true;
  };
  std::erase_if(sweeps_, settled);
  if (sweeps_.empty()) throw ConfigError(entry.at, "file", "has no row to run");
}

bool ExpertsPart::set_rate(Sweep& sweep) {
  std::vector<const Row*> reference;
  for (const Row& row : sweep.rows) {
    if (row.sms == kReferenceSms) reference.push_back(&row);
  }
  if (reference.empty()) return false;
  sweep.latency = (*std::ranges::min_element(reference, {}, &Row::sent))->measured;
  std::vector<double> rates;
  for (const Row* row : reference) {
    if (row->sent >= kLargeFrom && row->measured > sweep.latency)
      rates.push_back((row->sent / (row->measured - sweep.latency)).value / kReferenceSms);
  }
  if (rates.empty()) return false;
  sweep.rate = BytesPerSecond{median(rates)};
  return true;
}

SimulatedTime ExpertsPart::predict(const Sweep& sweep, const Row& row) {
  ClusterSpec cluster = *sweep.cluster;
  CollectiveLibrarySpec& library = cluster.library;
  library.channels = row.sms;
  library.p2p_channels = row.sms;
  library.cu_rate = sweep.rate;
  library.simple.channel_rate = sweep.rate;
  library.simple.base_latency = sweep.latency - library.simple.hop_latency;
  const double ranks = cluster.ranks();
  const CollectiveCall call{.kind = CollectiveKind::all_to_all, .bytes = row.sent * (ranks / (ranks - 1.0))};
  const CollectiveMethod method{.algorithm = Algorithm::direct, .channels = {.most = row.sms}};
  return {.time = measure_collective(cluster, call, {.method = method, .gap = Seconds{}}).time};
}

void ExpertsPart::plan(SimulationJobs& jobs) {
  for (Sweep& sweep : sweeps_) {
    for (Row& row : sweep.rows)
      jobs.push_back({.run = [&sweep, &row] { return predict(sweep, row); },
                      .take = [&row](const SimulatedTime& simulated) { row.simulated = simulated; }});
  }
}

StudySection ExpertsPart::section(const PublishedFigures& published, bool combine) const {
  StudySection section{
      .heading = fmt::format("DeepEP {} against SMs: absolute error in time", way_of(combine)),
      .lines = {},
      .notes = {fmt::format("Rate of an SM and latency of each shape from {} SMs; the other counts follow.",
                            kReferenceSms)},
      .value = "median"};
  std::map<int, std::vector<const Row*>> by_sms;
  for (const Sweep& sweep : sweeps_)
    for (const Row& row : sweep.rows)
      if (sweep.combine == combine) by_sms[row.sms].push_back(&row);
  for (const auto& [sms, rows] : by_sms) {
    std::vector<double> errors;
    for (const Row* row : rows)
      if (row->simulated.time) errors.push_back(100.0 * (*row->simulated.time / row->measured - 1.0));
    section.lines.push_back(error_line(published.find(fmt::format("deepep.{}.sms.{}", way_of(combine), sms)),
                                       sms == kReferenceSms ? FigureKind::fitted : FigureKind::predicted,
                                       fmt::format("{} SMs", sms), errors));
    section.lines.back().skipped = rows.size() - errors.size();
  }
  return section;
}

StudyReport ExpertsPart::sections(const PublishedFigures& published) const {
  if (sweeps_.empty()) return {};
  return {section(published, false), section(published, true)};
}

}}  // namespace c3::studies
