#include "studies/conccl/characterisation_part.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/percent.hpp"
#include "engine/errors.hpp"
#include "studies/conccl/alone.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr double kMicro = 1e6;
constexpr Bytes kMasked{896.0 * kMebi};
constexpr double kAsFast = 1.05;  // of a mask that costs nothing

CollectiveCall call_of(CollectiveKind kind, Bytes bytes) {
  return {.kind = kind, .bytes = bytes, .dtype = DType::bf16};
}

/// What a job has found. \throws InfeasibleError when the system cannot run it
const std::vector<double>& values_of(const SimulatedTime& simulated) {
  if (simulated.values.empty()) throw InfeasibleError(simulated.said);
  return simulated.values;
}

void put(NamedNumbers& numbers, const std::string& name, const Slowdown& slowdown) {
  numbers.insert(
      {{name, slowdown.mean}, {name + ".least", slowdown.least}, {name + ".greatest", slowdown.greatest}});
}

}  // namespace

CharacterisationPart::CharacterisationPart(const DrawnExperiment& make, int draws,
                                           std::vector<GemmShape> memory_bound)
    : memory_bound_(std::move(memory_bound)) {
  cases_.push_back({make(std::nullopt)});
  for (int draw = 0; draw < draws; ++draw)
    cases_.push_back({make(static_cast<std::uint64_t>(draw))});
  masks_ = {{.kind = CollectiveKind::all_gather, .algorithm = Algorithm::ring},
            {.kind = CollectiveKind::all_to_all, .algorithm = Algorithm::direct}};
  for (Bytes bytes = kSmall; bytes <= kLarge; bytes = bytes * 2.0)
    sizes_.push_back({.bytes = bytes});
}

void CharacterisationPart::plan_copies(SimulationJobs& jobs, const Experiment& experiment, CollectiveKind kind,
                                       Bytes bytes, CopyTimes& times) const {
  jobs.push_back(
      {.run =
           [=, &experiment] {
             const CopyTimes found =
                 copy_times(experiment.cluster, call_of(kind, bytes), dma_options(experiment));
             return SimulatedTime{.values = {found.library.value, found.ring.value, found.engines.value}};
           },
       .take =
           [&times](const SimulatedTime& simulated) {
             const std::vector<double>& values = values_of(simulated);
             times = {Seconds{values.at(0)}, Seconds{values.at(1)}, Seconds{values.at(2)}};
           }});
}

void CharacterisationPart::plan(SimulationJobs& jobs) {
  for (Drawn& drawn : cases_) {
    plan_copies(jobs, drawn.experiment, CollectiveKind::all_gather, kSmall, drawn.small_gather);
    plan_copies(jobs, drawn.experiment, CollectiveKind::all_to_all, kSmall, drawn.small_exchange);
    plan_copies(jobs, drawn.experiment, CollectiveKind::all_gather, kLarge, drawn.large_gather);
  }
  for (MaskCurve& curve : masks_) {
    jobs.push_back(
        {.run =
             [this, &curve] {
               const auto time_on = [&](int cus) {
                 return time_on_cus(nominal(), call_of(curve.kind, kMasked), curve.algorithm, cus);
               };
               const Seconds on_all = time_on(0);
               SimulatedTime simulated;
               for (const int cus : kMasks)
                 simulated.values.push_back(time_on(cus) / on_all);
               return simulated;
             },
         .take = [&curve](const SimulatedTime& simulated) { curve.over_all = values_of(simulated); }});
  }
  for (SizePoint& point : sizes_) {
    plan_copies(jobs, nominal(), CollectiveKind::all_gather, point.bytes, point.gather);
    plan_copies(jobs, nominal(), CollectiveKind::all_to_all, point.bytes, point.exchange);
  }
}

NamedNumbers CharacterisationPart::numbers_of(const Drawn& drawn) const {
  const GpuSpec& gpu = drawn.experiment.cluster.gpu;
  static const std::vector<GemmShape> kGemms = compute_bound_gemms();
  NamedNumbers numbers = {{"gather.library", drawn.small_gather.library.value * kMicro},
                          {"gather.library.over", drawn.small_gather.over_library()},
                          {"gather.ring", drawn.small_gather.ring.value * kMicro},
                          {"gather.ring.over", drawn.small_gather.over_ring()},
                          {"exchange.library", drawn.small_exchange.library.value * kMicro},
                          {"exchange.library.over", drawn.small_exchange.over_library()},
                          {"large", kPercent * (drawn.large_gather.ring / drawn.large_gather.engines - 1.0)}};
  for (const int removed : {kMostRemoved / 2, kMostRemoved}) {
    put(numbers, fmt::format("gemms.{}", removed), slowdown(kGemms, gpu, removed));
    numbers.emplace(fmt::format("up.{}", removed), slowdown(llama_405b_up(), gpu, removed));
  }
  return numbers;
}

Found CharacterisationPart::over_draws(const std::function<NamedNumbers(const Drawn&)>& numbers) const {
  Found found{.nominal = {numbers(cases_.front())}};
  for (std::size_t i = 1; i < cases_.size(); ++i)
    found.draws.push_back(numbers(cases_[i]));
  return found;
}

void CharacterisationPart::add_found(FoundNumbers& found) const {
  found["alone"] = over_draws([this](const Drawn& drawn) { return numbers_of(drawn); });
  if (!memory_bound_.empty()) {
    Found& streamed = found["streamed"] = over_draws([this](const Drawn& drawn) {
      NamedNumbers numbers;
      for (const int removed : {8, kMostRemoved / 2, kMostRemoved})
        put(numbers, fmt::format("streamed.{}", removed),
            slowdown(memory_bound_, drawn.experiment.cluster.gpu, removed));
      return numbers;
    });
    streamed.rows = memory_bound_.size();
  }
  for (const MaskCurve& curve : masks_) {
    NamedNumbers numbers;
    for (std::size_t i = 0; i < kMasks.size(); ++i) {
      numbers.emplace(fmt::format("on_{}", kMasks.at(i)), curve.over_all[i]);
      if (curve.over_all[i] <= kAsFast) numbers.emplace("fewest", kMasks.at(i));
    }
    numbers.emplace("fewest", std::numeric_limits<double>::quiet_NaN());  // where none is
    found[std::string(name_of(curve.kind))] = {.nominal = {std::move(numbers)}};
  }
}

}}  // namespace c3::studies
