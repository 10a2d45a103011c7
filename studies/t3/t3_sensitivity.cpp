#include "studies/t3/t3_sensitivity.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "configs/jobs/experiment_reader.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr const char* kSeeds = "measure.seeds=4";  // of each row: what is judged has more

struct Swing {
  std::string_view id, label;
  std::vector<std::string> sets;
};

/// Ranges of configs/gpus/t3-80cu.toml and its node, see studies/t3/README.md.
const std::vector<Swing>& swings() {
  static const std::vector<Swing> kSwings = {
      {"link.150",
       "link 150 GB/s a direction",
       {"node.link_one_way=150 GB/s", "node.link_both_ways=150 GB/s", "library.link_payload=150 GB/s"}},
      {"hbm.low",
       "HBM at 0.60 of peak",
       {"gpu.hbm_read=600 GB/s", "gpu.hbm_write=600 GB/s", "gpu.hbm_copy=428.6 GB/s"}},
      {"hbm.high",
       "HBM at its peak",
       {"gpu.hbm_read=1 TB/s", "gpu.hbm_write=1 TB/s", "gpu.hbm_copy=714.3 GB/s"}},
      {"interleaving",
       "5 % of HBM lost to rows of two streams",
       {"gpu.hbm_read=807.5 GB/s", "gpu.hbm_write=807.5 GB/s", "gpu.hbm_copy=576.8 GB/s"}},
      {"turnaround.always",
       "HBM turns at each burst: always as at half writes",
       {"gpu.hbm_read=607.1 GB/s", "gpu.hbm_write=607.1 GB/s", "gpu.hbm_copy=607.1 GB/s"}},
      {"turnaround.none", "no read/write turnaround", {"gpu.hbm_copy=850 GB/s"}},
      {"turnaround.high", "turnaround 1.6 at half writes", {"gpu.hbm_copy=531.25 GB/s"}},
      {"stores.loads_first", "loads before stores", {"gpu.store_order=loads_first"}},
      {"stores.shared", "loads and stores together", {"gpu.store_order=shared"}},
      {"update.1.0", "updates cost as writes", {"gpu.near_memory_update=1.0"}},
      {"update.1.5", "updates cost 1.5 writes", {"gpu.near_memory_update=1.5"}},
      {"window.128kB", "staging window 128 kB", {"gpu.staging_window=128 kB"}},
      {"window.unlimited", "no staging window", {"gpu.staging_window=1 GB"}},
      {"tracker.1024", "1,024 work groups tracked", {"gpu.tracker_entries=1024"}},
      {"tracker.unlimited", "no limit to the tracker", {"gpu.tracker_entries=1000000"}},
      {"llc.lru", "LLC by strict LRU", {"gpu.replacement=lru"}},
      {"llc.8MB", "LLC of 8 MB", {"gpu.l2_size=8 MB"}},
      {"llc.24MB", "LLC of 24 MB", {"gpu.l2_size=24 MB"}},
      {"matrix.low", "GEMM at 0.6 of peak", {"gpu.fp16_sustained=68.8 TFLOP/s"}},
      {"matrix.high", "GEMM at 0.9 of peak", {"gpu.fp16_sustained=103.2 TFLOP/s"}},
      {"fair.low", "communication has 3/4 under T3", {"gpu.hbm_fair_share=0.25"}},
      {"floor.low", "communication promised 0.05", {"gpu.hbm_stream_floor=0.05"}},
      {"floor.high", "communication promised 0.20", {"gpu.hbm_stream_floor=0.2"}},
      {"spread.none", "work groups in lock step", {"gpu.work_group_spread=0.0"}},
      {"spread.high", "work groups spread by 5 %", {"gpu.work_group_spread=0.05"}},
      {"latency.low", "HBM latency 300 ns", {"gpu.hbm_latency=300 ns"}},
      {"latency.high", "HBM latency 800 ns", {"gpu.hbm_latency=800 ns"}},
  };
  return kSwings;
}

double mean(const SublayerTable& table, double (SublayerTimes::*speedup)() const) {
  return summarise(table.results(), in_group("main"), [&](const SublayerTimes& t) { return (t.*speedup)(); })
      .geomean;
}

}  // namespace

T3Sensitivity::T3Sensitivity(std::span<const Sublayer> sublayers, const std::filesystem::path& file,
                             const SublayerTable& nominal)
    : nominal_(nominal) {
  std::ranges::copy_if(sublayers, std::back_inserter(main_), in_group("main"));
  if (main_.empty()) return;
  for (const Swing& swing : swings()) {
    std::vector<std::string> sets = swing.sets;
    sets.emplace_back(kSeeds);
    Experiment base = ExperimentFile::load(file, sets).make(std::nullopt);
    rows_.push_back({std::string(swing.id), std::string(swing.label), SublayerTable(main_, std::move(base))});
  }
}

void T3Sensitivity::plan(SimulationJobs& jobs) {
  for (Row& row : rows_)
    row.table.plan(jobs);
}

StudySection T3Sensitivity::section(const PublishedFigures& published) const {
  StudySection section{.heading = "One assumption changed: geometric mean of the main sub-layers",
                       .lines = {},
                       .notes = {},
                       .value = "T3-MCA",
                       .decimals = 3};
  const auto add = [&](const std::string& id, const std::string& label, const SublayerTable& table) {
    const double t3 = mean(table, &SublayerTimes::speedup_t3);
    const double t3_mca = mean(table, &SublayerTimes::speedup_t3_mca);
    StudyLine line{.figure = {.reference = published.find("sensitivity." + id), .simulated = t3_mca},
                   .label = label};
    line.beside = {{"change", t3_mca - mean(nominal_, &SublayerTimes::speedup_t3_mca)},
                   {"T3", t3},
                   {"its change", t3 - mean(nominal_, &SublayerTimes::speedup_t3)},
                   {"Ideal-GEMM-RS-Overlap", mean(table, &SublayerTimes::ideal)}};
    section.lines.push_back(std::move(line));
  };
  if (rows_.empty()) return section;
  add("nominal", "nominal", nominal_);
  for (const Row& row : rows_)
    add(row.id, row.label, row.table);
  return section;
}

}}  // namespace c3::studies
