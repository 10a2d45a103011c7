// What context-parallel ranks exchange beside the kernels of attention.

#include <fmt/format.h>

#include <utility>

#include "workloads/training/context_rules.hpp"
#include "workloads/training/step_composer.hpp"

namespace c3::inline workloads {

void StepComposer::before_context_kernel(const PartKernel& kernel) {
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
  program_.order(program_.stream("context"), compute_, "keys and values there");
  awaited_transfers_ = started_transfers_;
}

// Behind what this rank's kernels have made, and behind the exchange before.
void StepComposer::start_transfer(const ContextTransfer& transfer) {
  const auto stream = program_.stream("context");
  program_.order(compute_, stream, "keys and values ready");
  if (transfer.way == ContextTransfer::Way::ring) {
    program_.exchange(stream, "keys and values passed on",
                      {.communicator = over_.context,
                       .messages = {{.offset = 1, .bytes = transfer.bytes, .sends = true},
                                    {.offset = -1, .bytes = transfer.bytes, .sends = false}}});
  } else {
    CollectiveCall call = context_call(transfer);
    const std::string name = fmt::format("attention {}", name_of(call.kind));
    program_.collective(stream, name, std::move(call));
  }
  ++started_transfers_;
}

CollectiveCall StepComposer::context_call(const ContextTransfer& transfer) const {
  using Way = ContextTransfer::Way;
  const bool by_heads = transfer.way == Way::all_to_all;
  CollectiveCall call{.kind = transfer.way == Way::all_gather       ? CollectiveKind::all_gather
                              : transfer.way == Way::reduce_scatter ? CollectiveKind::reduce_scatter
                                                                    : CollectiveKind::all_to_all,
                      .bytes = transfer.bytes,
                      .dtype = setup_.dtype};
  const RankGroups groups =
      by_heads ? groups_of_heads(setup_.context, grid_) : ring_of_keys(setup_.context, grid_);
  if (groups.size < grid_.ranks()) call.groups = groups;
  return call;
}

void StepComposer::end_context_part() {
  for (const Tensor tensor : std::exchange(part_memory_, {}))
    program_.memory().release(tensor);
  started_transfers_ = awaited_transfers_ = 0;
}

}  // namespace c3::workloads
