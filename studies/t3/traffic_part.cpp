#include "studies/t3/traffic_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "base/statistics.hpp"

namespace c3 { inline namespace studies {
namespace {

struct CuSplit {
  int cus;                   ///< of the all-reduce
  double all_reduce_slower;  ///< on them alone: an input
};
constexpr std::array<CuSplit, 2> kSplits = {{{8, 1.41}, {16, 1.07}}};
constexpr std::size_t kClasses = 6;  // of traffic

std::vector<double> flat(const std::array<HbmTraffic, 2>& traffic) {
  std::vector<double> values;
  for (const HbmTraffic& t : traffic)
    for (const Bytes bytes :
         {t.gemm_read, t.gemm_written, t.reduce_read, t.reduce_written, t.gather_read, t.gather_written})
      values.push_back(bytes.value);
  return values;
}

HbmTraffic traffic_at(const std::vector<double>& values, std::size_t first) {
  const auto bytes = [&](std::size_t i) { return Bytes{values.at(first + i)}; };
  return {bytes(0), bytes(1), bytes(2), bytes(3), bytes(4), bytes(5)};
}

double less(double before, double after) { return 100.0 * (after / before - 1.0); }

}  // namespace

void TrafficPart::plan(SimulationJobs& jobs) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Sublayer& sublayer = *table_.results()[i].sublayer;
    const auto simulate = [this, &sublayer] {
      const Experiment experiment = experiment_of(table_.base(), sublayer);
      std::vector<double> values(kSplits.size());
      std::ranges::transform(kSplits, values.begin(),
                             [&](const CuSplit& split) { return gemm_without(experiment, split.cus).value; });
      if (sublayer.group == "main")
        std::ranges::copy(flat(count_traffic(experiment)), std::back_inserter(values));
      return SimulatedTime{.values = std::move(values)};
    };
    jobs.push_back(
        {simulate, [this, i, &sublayer](const SimulatedTime& simulated) {
           const std::vector<double>& v = simulated.values;
           if (v.empty()) throw std::runtime_error(sublayer.id() + ": " + simulated.said);
           rows_[i].gemm = {Seconds{v.at(0)}, Seconds{v.at(1)}};
           if (sublayer.group == "main")
             rows_[i].traffic = {traffic_at(v, kSplits.size()), traffic_at(v, kSplits.size() + kClasses)};
         }});
  }
}

StudySection TrafficPart::movement(const PublishedFigures& published) const {
  StudySection section{
      .heading = "Bytes at HBM, T3-MCA beside Sequential, main sub-layers",
      .lines = {},
      .notes = {"Counted by the simulator on both sides: GEMM, reduce-scatter and all-gather."},
      .decimals = 3};
  std::vector<double> totals, gemm_reads;
  for (const int tp : {8, 16}) {
    std::vector<double> reads, stores;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Sublayer& sublayer = *table_.results()[i].sublayer;
      if (sublayer.group != "main" || sublayer.tp != tp) continue;
      const auto& [sequential, fused] = rows_[i].traffic;
      reads.push_back(sequential.reduce_read / fused.reduce_read);
      stores.push_back(fused.stored() / sequential.stored());
      totals.push_back(fused.total() / sequential.total());
      gemm_reads.push_back(sequential.gemm_read / fused.gemm_read);
    }
    if (reads.empty()) continue;
    section.lines.push_back(line_of(published, fmt::format("movement.reduce_reads.tp{}", tp),
                                    fmt::format("RS reads, times fewer, TP {}", tp), geometric_mean(reads),
                                    reads.size()));
    section.lines.push_back(line_of(published, fmt::format("movement.stores.tp{}", tp),
                                    fmt::format("GEMM and RS writes, percent, TP {}", tp),
                                    less(1.0, geometric_mean(stores)), stores.size()));
  }
  if (totals.empty()) return section;
  section.lines.push_back(line_of(published, "movement.mean", "all bytes, percent, geometric mean",
                                  less(1.0, geometric_mean(totals)), totals.size()));
  section.lines.push_back(line_of(published, "movement.max", "all bytes, percent, most",
                                  less(1.0, *std::ranges::min_element(totals)), totals.size()));
  section.lines.push_back(line_of(published, "movement.gemm_reads", "GEMM reads, times fewer",
                                  geometric_mean(gemm_reads), gemm_reads.size()));
  return section;
}

StudySection TrafficPart::classes(const PublishedFigures& published) const {
  struct Class {
    std::string_view id, label;
    Bytes (*bytes)(const HbmTraffic&);
  };
  constexpr std::array<Class, 5> kShown = {{
      {"gemm_reads", "GEMM reads", [](const HbmTraffic& t) { return t.gemm_read; }},
      {"gemm_writes", "GEMM writes", [](const HbmTraffic& t) { return t.gemm_written; }},
      {"reduce_reads", "RS reads", [](const HbmTraffic& t) { return t.reduce_read; }},
      {"reduce_writes", "RS writes and updates", [](const HbmTraffic& t) { return t.reduce_written; }},
      {"gather", "AG reads and writes", [](const HbmTraffic& t) { return t.gather_read + t.gather_written; }},
  }};
  StudySection section{
      .heading = "The same by class: percent of Sequential's bytes, mean of the main sub-layers",
      .lines = {},
      .notes = {},
      .value = "T3-MCA"};
  for (const Class& traffic_class : kShown) {
    double sequential = 0.0, fused = 0.0;
    std::size_t rows = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (table_.results()[i].sublayer->group != "main") continue;
      const Bytes all = rows_[i].traffic[0].total();
      sequential += 100.0 * (traffic_class.bytes(rows_[i].traffic[0]) / all);
      fused += 100.0 * (traffic_class.bytes(rows_[i].traffic[1]) / all);
      ++rows;
    }
    if (rows == 0) continue;
    const auto count = static_cast<double>(rows);
    StudyLine line = line_of(published, fmt::format("movement.class.{}", traffic_class.id),
                             std::string(traffic_class.label), fused / count, rows);
    line.beside = {{"Sequential", sequential / count}};
    section.lines.push_back(std::move(line));
  }
  return section;
}

StudySection TrafficPart::split(const PublishedFigures& published) const {
  StudySection section{
      .heading = "CU split: GEMM and all-reduce of a sub-layer side by side, speedup over one after the other",
      .lines = {},
      .notes = {"The all-reduce is 1.41 times as long on 8 CUs and 1.07 times on 16: inputs. Main and large "
                "sub-layers, without OP; beside them with OP."},
      .decimals = 3};
  using Speedup = std::function<double(const SublayerTimes&, const Row&)>;
  const auto add = [&](const std::string& id, std::string label, const Speedup& speedup) {
    std::vector<double> without, all;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const SublayerResult& result = table_.results()[i];
      all.push_back(speedup(result.times, rows_[i]));
      if (!result.sublayer->is_output_projection()) without.push_back(all.back());
    }
    if (without.empty()) return;
    StudyLine line =
        line_of(published, "split." + id, std::move(label), geometric_mean(without), without.size());
    line.beside = {{"with OP", geometric_mean(all)}};
    section.lines.push_back(std::move(line));
  };
  add("ideal", "ideal: both as if alone", [](const SublayerTimes& t, const Row&) {
    return t.sequential() / std::max(t.gemm, t.reduce + t.gather);
  });
  for (std::size_t i = 0; i < kSplits.size(); ++i) {
    add(fmt::format("cus{}", kSplits[i].cus), fmt::format("all-reduce on {} CUs", kSplits[i].cus),
        [i](const SublayerTimes& t, const Row& row) {
          return t.sequential() / std::max(row.gemm[i], (t.reduce + t.gather) * kSplits[i].all_reduce_slower);
        });
  }
  std::vector<double> slower;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    slower.push_back(rows_[i].gemm[1] / table_.results()[i].times.gemm);
  section.lines.push_back(line_of(published, "split.gemm_on_64", "GEMM on 64 CUs over GEMM on 80",
                                  geometric_mean(slower), slower.size()));
  return section;
}

}}  // namespace c3::studies
