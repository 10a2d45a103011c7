#include "workloads/analysis/out_of_memory.hpp"

namespace c3 { inline namespace workloads {

std::optional<OutOfMemory> out_of_memory(const ExperimentFactory& make) {
  const Experiment nominal = make(std::nullopt);
  if (!nominal.step) return std::nullopt;
  std::optional<OutOfMemory> verdict;
  if (nominal.measure.draws == 0 && !nominal.step->fits()) verdict = OutOfMemory{nominal.name, *nominal.step};
  for (std::uint64_t draw = 0; draw < static_cast<std::uint64_t>(nominal.measure.draws); ++draw) {
    const Experiment drawn = make(draw);
    if (drawn.step->fits()) continue;
    if (!verdict) verdict = OutOfMemory{drawn.name, *drawn.step};
    verdict->draws.push_back(draw);
  }
  return verdict;
}

}}  // namespace c3::workloads
