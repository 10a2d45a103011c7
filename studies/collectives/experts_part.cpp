#include "studies/collectives/experts_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/statistics.hpp"
#include "collectives/measure.hpp"
#include "studies/collectives/scores.hpp"
#include "studies/collectives/table_run.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kMedian = 0.5;

/// The cells of a row, by name.
class RowReader {
 public:
  RowReader(const HeadedTable& file, const HeadedTable::Row& row) : file_(file), row_(row) {}

  double number(std::string_view column, double least) const {
    const std::string_view cell = row_.cells[file_.need({column}, "tables of DeepEP have it")];
    const auto value = number_in(cell);
    if (value && *value >= least) return *value;
    throw file_.error(row_, cell, column, fmt::format("must be a number from {} on, not '{}'", least, cell));
  }

  int whole(std::string_view column) const {
    constexpr double kMost = 1e9;
    const double value = number(column, 1.0);
    if (value == std::floor(value) && value <= kMost) return static_cast<int>(value);
    throw file_.error(row_, row_.cells[*file_.find({column})], column, "must be a whole number");
  }

 private:
  const HeadedTable& file_;
  const HeadedTable::Row& row_;
};

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
      const RowReader cell(file, row);
      const ExpertShape shape{cell.whole("hidden_size"), cell.whole("num_topk"), cell.whole("num_experts")};
      if (shape.experts % ranks != 0 || shape.chosen > shape.experts)
        throw file.error(row, row.cells[*file.find({"num_experts"})], "num_experts",
                         fmt::format("{} cannot be divided among {} ranks, {} of them a token", shape.experts,
                                     ranks, shape.chosen));
      const double copies = cell.whole("num_token") * destinations(shape, ranks) * others;
      const auto time = [&](const char* transmit, const char* notify) {
        return Seconds{(cell.number(transmit, 1e-3) + cell.number(notify, 0.0)) * kMicro};
      };
      const Row dispatch{cell.whole("dispatch_sms"), dispatched_token(shape) * copies,
                         time("dispatch_transmit_us", "dispatch_notify_us")};
      const Row combine{cell.whole("combine_sms"), combined_token(shape) * copies,
                        time("combine_transmit_us", "combine_notify_us")};
      sweep_of(shape, false, cluster).rows.push_back(dispatch);
      sweep_of(shape, true, cluster).rows.push_back(combine);
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
  sweep.rate = BytesPerSecond{quantile(rates, kMedian)};
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
  const std::string_view name = combine ? "combine" : "dispatch";
  StudySection section{.heading = fmt::format("DeepEP {} against SMs: absolute error in time", name),
                       .lines = {},
                       .notes = {},
                       .value = "median"};
  std::set<int> counts;
  for (const Sweep& sweep : sweeps_) {
    for (const Row& row : sweep.rows)
      counts.insert(row.sms);
  }
  for (const int sms : counts) {
    std::vector<double> errors;
    std::size_t skipped = 0;
    for (const Sweep& sweep : sweeps_) {
      for (const Row& row : sweep.rows) {
        if (sweep.combine != combine || row.sms != sms) continue;
        if (row.simulated.time)
          errors.push_back(100.0 * (*row.simulated.time / row.measured - 1.0));
        else
          ++skipped;
      }
    }
    const bool fitted = sms == kReferenceSms;
    StudyLine line{.figure = {.of = published.find(fmt::format("deepep.{}.sms.{}", name, sms)),
                              .kind = fitted ? FigureKind::fitted : FigureKind::predicted},
                   .label = fmt::format("{} SMs", sms),
                   .rows = errors.size(),
                   .skipped = skipped};
    if (const auto score = score_of(errors)) {
      line.figure.simulated = score->median;
      line.beside = {{"p90", score->p90}, {"bias", score->bias}};
    }
    section.lines.push_back(std::move(line));
  }
  section.notes = {fmt::format("Rate of an SM and latency of each shape from {} SMs; the other counts follow.",
                               kReferenceSms)};
  return section;
}

StudyReport ExpertsPart::sections(const PublishedFigures& published) const {
  if (sweeps_.empty()) return {};
  return {section(published, false), section(published, true)};
}

}}  // namespace c3::studies
