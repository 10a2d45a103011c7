#include "workloads/experiment.hpp"

#include <utility>

#include "gpu/kernels/operator_class.hpp"

namespace c3::inline workloads {

int usual_seeds(const Experiment& experiment) {
  return experiment.training || experiment.cluster.nodes > 1 ? 1 : 8;
}

KernelGrain grain_of(const Measure& measure, const Operator& op) {
  return op.of_class().has_product ? measure.kernel_grain : measure.vector_grain;
}

namespace {

std::optional<OperationPlace> place_of_record(const std::vector<StreamSpec>& streams,
                                              const std::string& event) {
  for (std::size_t s = 0; s < streams.size(); ++s) {
    for (std::size_t i = 0; i < streams[s].operations.size(); ++i) {
      const auto* record = std::get_if<RecordEvent>(&streams[s].operations[i].work);
      if (record != nullptr && record->event == event) return OperationPlace{s, i};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<OperationPlace> producer_of(const std::vector<StreamSpec>& streams, OperationPlace place) {
  bool followed = false;  // an event, of which one is enough
  while (place.operation > 0) {
    const Operation& before = streams[place.stream].operations[--place.operation];
    if (kernel_of(before) != nullptr) return place;
    if (std::holds_alternative<RecordEvent>(before.work)) continue;
    const auto* wait = std::get_if<WaitEvent>(&before.work);
    if (wait == nullptr || std::exchange(followed, true)) return std::nullopt;
    const auto record = place_of_record(streams, wait->event);
    if (!record) return std::nullopt;
    place = *record;
  }
  return std::nullopt;
}

}  // namespace c3::workloads
