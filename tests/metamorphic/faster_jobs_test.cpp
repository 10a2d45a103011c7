// Better hardware makes no job longer: every rate of the GPU, node, library and fabric, and the number of
// engines, with what a library chooses pinned. Streams that share a GPU may lose up to 3 %, because work groups
// go where there is room and never move (docs/decisions/gpu.md), and what a job loses is gone when nothing is
// shared. More CUs or channels are not among these rates: both take something from somebody (caches, CUs).
// C3SIM_ATTACK=whole takes all factors.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "configs/fields/fabric_fields.hpp"
#include "configs/fields/gpu_fields.hpp"
#include "configs/fields/library_fields.hpp"
#include "configs/fields/node_fields.hpp"
#include "engine/errors.hpp"
#include "engine/random.hpp"
#include "gpu/kernels/gemm/gemm_choice.hpp"
#include "gpu/kernels/gemm/gemm_plan.hpp"
#include "tests/support/overlapping_jobs.hpp"
#include "tests/support/seeds.hpp"
#include "workloads/analysis/periodic_power.hpp"
#include "workloads/execute/run.hpp"

namespace c3::test::faster_jobs_test {
namespace {

constexpr double kRounding = 2e-3;
constexpr auto kEverything = Isolation::from_bits((1U << kSharedResources) - 1);
constexpr double kFactors[] = {1.02, 1.1, 1.2, 1.3, 1.5, 2.0, 4.0};

bool is_whole() {
  const char* const size = std::getenv("C3SIM_ATTACK");
  return size != nullptr && std::string_view(size) == "whole";
}

/// The tiles and splits that are fastest on one GPU, whatever the GPU is that asks.
class PlansOf final : public LibraryChoice {
 public:
  explicit PlansOf(GpuSpec gpu) : gpu_(std::move(gpu)) {}
  std::optional<LibraryGemm> kernel_for(const GemmShape& shape, const GpuSpec&) const override {
    const GemmPlan plan = fastest_plan(shape, gpu_);
    return LibraryGemm{plan.tile.m, plan.tile.n, plan.tile.k, plan.split};
  }

 private:
  GpuSpec gpu_;
};

/// Rings of 16 channels in protocol simple wherever a library could choose, and the tiles of \p plans.
Experiment pinned(Experiment job, std::shared_ptr<const LibraryChoice> plans) {
  job.cluster.gpu.library_kernels.gemm_choice = GemmChoice::library;
  job.cluster.gpu.library_choice = std::move(plans);
  for (Strategy& strategy : job.strategies) {
    for (const std::string& stream : job.program.streams) {
      StreamPolicy& policy = strategy.streams[stream];
      if (policy.backend != Backend::cu) continue;
      policy.method = {
          .algorithm = Algorithm::ring, .protocol = Protocol::simple, .channels = {.least = 16, .most = 16}};
    }
  }
  return job;
}

Seconds time_of(const Experiment& job, const Strategy& strategy, Isolation isolation = {}) {
  RunSetup setup{.cus = cu_choices(job, strategy).front(), .isolation = isolation};
  setup.power = periodic_start(job, strategy, setup);
  return run_once(job, strategy, setup).time;
}

/// What is better by a factor. Names are those of configuration keys.
struct Better {
  std::string key;
  std::function<Experiment(const Job&, const Experiment& base, double factor)> make;
};

/// What nothing beats is as fast at least.
void lift_peaks(Experiment& job) {
  GpuSpec& gpu = job.cluster.gpu;
  gpu.hbm.peak = std::max({gpu.hbm.peak, gpu.hbm.read, gpu.hbm.write, gpu.hbm.copy});
  NodeSpec& node = job.cluster.node;
  for (LinkSpec* const link : {&node.link, &node.pcie, &node.c2c}) {
    link->one_way = std::max(link->one_way, link->both_ways);
    link->raw = std::max(link->raw, link->one_way);
  }
  CollectiveLibrarySpec& library = job.cluster.library;
  library.cu_rate = std::max(library.cu_rate, library.simple.channel_rate);
}

template <class Visit>
void each_rate(Experiment& job, const Visit& visit) {
  const auto rates_of = [&](const char* prefix) {
    return [&visit, prefix](const std::string& key, QuantityOf quantity) {
      const bool is_rate =
          quantity.dimension == Dimension::bandwidth || quantity.dimension == Dimension::flop_rate;
      if (is_rate) visit(prefix + key, quantity.value);
    };
  };
  each_quantity(job.cluster.gpu, rates_of("gpu."));
  each_quantity(job.cluster.node, rates_of("node."));
  each_quantity(job.cluster.library, rates_of("library."));
  if (job.cluster.fabric) each_quantity(*job.cluster.fabric, rates_of("fabric."));
}

/// A board whose arithmetic is faster at the same energy would draw more, and its clock fall for everybody.
void keep_power(Experiment& job, double factor) { job.cluster.gpu.governor.flop_pj /= factor; }

/// A peak moves with what large products sustain, which is a share of it.
Better faster_products(DType dtype) {
  return {"gpu." + std::string(name_of(dtype)) + "_peak",
          [dtype](const Job&, const Experiment& base, double factor) {
            Experiment faster = base;
            for (MatrixRate& rate : faster.cluster.gpu.compute.matrix) {
              if (rate.dtype != dtype) continue;
              rate.peak = rate.peak * factor;
              rate.sustained = rate.sustained * factor;
            }
            if (dtype == DType::bf16) keep_power(faster, factor);
            return faster;
          }};
}

std::vector<Better> rate_keys(Experiment job) {
  // Levels that a governor holds and estimates that a tuner compares are no rates of hardware. What HBM
  // reaches by reads, writes and copies are three points of one curve, which move together (gpu.hbm_scale):
  // writes alone at twice the rate beside the same copies would mean that turning round costs more.
  const std::set<std::string> kNoRates{"gpu.sustained_level", "gpu.power_as_traffic", "library.tuner_bandwidth",
                                       "gpu.hbm_read",        "gpu.hbm_write",        "gpu.hbm_copy"};
  std::set<std::string> keys;
  each_rate(job, [&](const std::string& key, const double*) { keys.insert(key); });
  std::vector<Better> all;
  for (const MatrixRate& rate : job.cluster.gpu.compute.matrix)
    all.push_back(faster_products(rate.dtype));
  for (const std::string& key : keys) {
    const bool is_of_products = key.starts_with("gpu.") &&
                                (key.ends_with("_peak") || key.ends_with("_sustained")) &&
                                key != "gpu.hbm_peak";
    if (kNoRates.contains(key) || is_of_products) continue;
    all.push_back({key, [key](const Job&, const Experiment& base, double factor) {
                     Experiment faster = base;
                     each_rate(faster, [&](const std::string& rate_key, double* value) {
                       if (rate_key == key) *value *= factor;
                     });
                     lift_peaks(faster);
                     return faster;
                   }});
  }
  return all;
}

/// Keys that several rates follow.
std::vector<Better> scale_keys(const Experiment& job) {
  std::vector<std::string> keys{"gpu.hbm_scale", "gpu.flops_scale", "node.link_scale"};
  if (job.cluster.fabric) keys.emplace_back("fabric.scale");
  std::vector<Better> all;
  for (const std::string& key : keys)
    all.push_back({key, [key](const Job& file, const Experiment& base, double factor) {
                     Experiment faster = pinned(experiment_of(file, {fmt::format("+{}={}", key, factor)}),
                                                base.cluster.gpu.library_choice);
                     if (key == "gpu.flops_scale") keep_power(faster, factor);
                     return faster;
                   }});
  return all;
}

std::vector<Better> count_keys(const Experiment& job) {
  std::vector<Better> all;
  if (job.cluster.gpu.dma.engines > 0)
    all.push_back({"gpu.dma_engines", [](const Job&, const Experiment& base, double factor) {
                     Experiment faster = base;
                     faster.cluster.gpu.dma.engines = static_cast<int>(factor * base.cluster.gpu.dma.engines);
                     return faster;
                   }});
  return all;
}

struct Covered {
  std::size_t jobs = 0, strategies = 0, runs = 0;
  std::set<std::string> keys;       ///< that were tried
  std::set<std::string> shortened;  ///< that make a strategy at least 1 % shorter
  double worst = 0.0;               ///< time over that before, less 1
  std::string worst_case;
};

/// All factors, or by day two that \p draw chooses.
std::vector<double> factors_for(std::uint64_t draw) {
  std::vector<double> factors(std::begin(kFactors), std::end(kFactors));
  if (is_whole()) return factors;
  const RandomStream random(draw, 0);
  const auto any = [&](std::uint64_t index) {
    return factors[static_cast<std::size_t>(random.uniform(index) * static_cast<double>(factors.size()))];
  };
  return {any(0), any(1)};
}

class Gate {
 public:
  void check(const Job& file) {
    CAPTURE(file.name);
    ++covered_.jobs;
    const Experiment read = experiment_of(file);
    const Experiment base = pinned(read, std::make_shared<PlansOf>(read.cluster.gpu));
    std::vector<Seconds> before;
    for (const Strategy& strategy : base.strategies)
      before.push_back(time_of(base, strategy));
    covered_.strategies += before.size();
    for (const auto& keys : {scale_keys(base), rate_keys(base), count_keys(base)}) {
      for (const Better& better : keys)
        check(file, base, before, better);
    }
  }

  const Covered& covered() const { return covered_; }

 private:
  void check(const Job& file, const Experiment& base, const std::vector<Seconds>& before,
             const Better& better) {
    CAPTURE(better.key);
    covered_.keys.insert(better.key);
    constexpr double kTells = 2.0;  // whether a job uses it
    const Experiment twice = better.make(file, base, kTells);
    std::set<std::size_t> users;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (compare(file, better, kTells, base, twice, i, before[i])) users.insert(i);
    if (users.empty()) return;
    for (const double factor : factors_for(stable_hash(file.name + better.key))) {
      const Experiment faster = better.make(file, base, factor);
      for (const std::size_t i : users)
        compare(file, better, factor, base, faster, i, before[i]);
    }
  }

  /// \returns whether the strategy takes another time.
  bool compare(const Job& file, const Better& better, double factor, const Experiment& base,
               const Experiment& faster, std::size_t strategy, Seconds before) {
    CAPTURE(factor);
    CAPTURE(faster.strategies[strategy].name);
    const Seconds time = time_of(faster, faster.strategies[strategy]);
    ++covered_.runs;
    const double longer = time / before - 1.0;
    CHECK(longer <= file.may_lose);
    if (longer > kRounding) {
      const Seconds unshared = time_of(base, base.strategies[strategy], kEverything);
      CHECK(time_of(faster, faster.strategies[strategy], kEverything) / unshared <= 1.0 + kRounding);
    }
    if (longer < -0.01) covered_.shortened.insert(better.key);
    if (longer > covered_.worst) {
      covered_.worst = longer;
      covered_.worst_case =
          fmt::format("{}, {}, {} x {}", file.name, faster.strategies[strategy].name, better.key, factor);
    }
    return time != before;
  }

  Covered covered_;
};

}  // namespace

TEST_CASE("a better rate makes no job of several streams longer by more than sharing may cost") {
  Gate gate;
  const std::vector<Job> jobs = overlapping_jobs();
  for (std::uint32_t i = 0; i < seeds(static_cast<std::uint32_t>(jobs.size())); ++i)
    gate.check(jobs[i]);
  const Covered& covered = gate.covered();
  MESSAGE(fmt::format(
      "{} jobs, {} strategies x {} keys, {} runs; worst {:+.2f} %: {}\nshorten a job: {}\nothers: {}",
      covered.jobs, covered.strategies, covered.keys.size(), covered.runs, 100.0 * covered.worst,
      covered.worst_case, fmt::join(covered.shortened, ", "), fmt::join(covered.keys, ", ")));
  if (covered.jobs < jobs.size()) return;
  for (const char* const key : {"gpu.hbm_scale", "gpu.flops_scale", "node.link_scale", "fabric.scale"})
    CHECK(covered.shortened.contains(key));
}

}  // namespace c3::test::faster_jobs_test
