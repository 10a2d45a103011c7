// What ranks exchange beside the kernels of one part: context-parallel ones for attention, tensor-parallel ones
// for adapters.

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "workloads/training/context_rules.hpp"
#include "workloads/training/step_composer.hpp"

namespace c3 { inline namespace workloads {

void StepComposer::before_kernel(const PartKernel& kernel) {
  if (kernel.needs <= started_transfers_) await_transfers(kernel.needs);
  if (kernel.starts) start_transfer(*kernel.starts);
  await_transfers(kernel.needs);
  if (kernel.held.value > 0.0)
    part_memory_.push_back(program_.memory().allocate(compute_, MemoryClass::communication,
                                                      "keys and values of other ranks", kernel.held));
}

// The event is recorded when it is waited for: in a shared hardware queue it would hold up what is behind it.
void StepComposer::await_transfers(int needed) {
  if (needed <= awaited_transfers_) return;
  program_.order(transfers_, compute_, "exchanged");
  awaited_transfers_ = started_transfers_;
}

// A transfer follows what this rank's kernels have made, and the exchange before.
void StepComposer::start_transfer(const PartTransfer& transfer) {
  const bool is_adapter = transfer.over == PartTransfer::Over::tensor;
  transfers_ = program_.stream(is_adapter ? "adapters" : "context");
  program_.order(compute_, transfers_, "made for exchange");
  if (transfer.way == PartTransfer::Way::ring) {
    program_.exchange(transfers_, "keys and values passed on",
                      {.communicator = over_.context,
                       .messages = {{.offset = 1, .bytes = transfer.bytes, .sends = true},
                                    {.offset = -1, .bytes = transfer.bytes, .sends = false}}});
  } else {
    CollectiveCall call = call_of(transfer);
    const std::string name = fmt::format("{} {}", is_adapter ? "adapter" : "attention", name_of(call.kind));
    program_.collective(transfers_, name, std::move(call));
  }
  ++started_transfers_;
}

namespace {

CollectiveKind kind_of(PartTransfer::Way way) {
  switch (way) {
    case PartTransfer::Way::all_gather:
      return CollectiveKind::all_gather;
    case PartTransfer::Way::reduce_scatter:
      return CollectiveKind::reduce_scatter;
    case PartTransfer::Way::all_reduce:
      return CollectiveKind::all_reduce;
    case PartTransfer::Way::all_to_all:
      return CollectiveKind::all_to_all;
    case PartTransfer::Way::ring:
      break;
  }
  throw std::logic_error("kind_of: a ring is no collective");
}

}  // namespace

CollectiveCall StepComposer::call_of(const PartTransfer& transfer) const {
  const CollectiveKind kind = kind_of(transfer.way);
  if (transfer.over == PartTransfer::Over::tensor) return tensor_call(kind, transfer.bytes);
  CollectiveCall call{.kind = kind, .bytes = transfer.bytes, .dtype = setup_.dtype};
  const bool divides_heads = kind == CollectiveKind::all_to_all && setup_.context.head_ranks() > 1;
  const RankGroups groups =
      divides_heads ? groups_of_heads(setup_.context, grid_) : ring_of_keys(setup_.context, grid_);
  if (groups.size < grid_.ranks()) call.groups = groups;
  return call;
}

void StepComposer::end_part() {
  for (const Tensor tensor : std::exchange(part_memory_, {}))
    program_.memory().release(tensor);
  started_transfers_ = awaited_transfers_ = 0;
}

}}  // namespace c3::workloads
