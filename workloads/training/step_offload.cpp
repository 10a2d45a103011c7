// Activations that wait for their backward pass in the memory of the host.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workloads/training/step_composer.hpp"

namespace c3 { inline namespace workloads {

bool StepComposer::is_offloaded(PartId part) const {
  const std::vector<std::string>& parts = setup_.offload.parts;
  return parts.empty() || std::ranges::find(parts, name_of(part)) != parts.end();
}

// A layer's copy runs beside the next layer, after which its memory is free (TransformerEngine, cpu_offload.py:
// groups are released at the commit of the next one).
void StepComposer::offload_layer(BlockState& state, std::int64_t layer) {
  Offloaded leaving;
  Bytes bytes;
  const auto leave = [&](PartId part, Tensor tensor, bool is_input) {
    const Bytes tensor_bytes = program_.memory().bytes_of(tensor);
    state.away.push_back({part, tensor_bytes, is_input});
    leaving.tensors.push_back(tensor);
    bytes += tensor_bytes;
  };
  std::erase_if(state.kept, [&](const Kept& kept) {
    if (!is_offloaded(kept.part)) return false;
    leave(kept.part, kept.tensor, false);
    return true;
  });
  if (state.input && setup_.offload.parts.empty()) leave({}, *std::exchange(state.input, std::nullopt), true);
  if (bytes.value <= 0.0) return;
  const StepProgram::Stream stream = program_.stream("offload");
  program_.order(compute_, stream, "activations made");
  program_.host_copy(stream, fmt::format("activations of layer {}", layer), {bytes, HostWay::to_host});
  leaving.copied = program_.record(stream, "activations at the host");
  offloaded_ = std::move(leaving);
}

void StepComposer::release_offloaded() {
  if (!offloaded_) return;
  program_.wait(compute_, offloaded_->copied);
  for (const Tensor tensor : offloaded_->tensors)
    program_.memory().release(tensor);
  offloaded_.reset();
}

// One layer ahead of its backward pass.
void StepComposer::reload_layer(BlockState& state, std::int64_t layer) {
  if (state.away.empty()) return;
  Bytes bytes;
  for (const Away& activation : std::exchange(state.away, {})) {
    const Tensor tensor = program_.memory().allocate(
        compute_, MemoryClass::activations, activation.is_input ? "layer inputs" : name_of(activation.part),
        activation.bytes);
    if (activation.is_input)
      state.input = tensor;
    else
      state.kept.push_back({activation.part, tensor});
    bytes += activation.bytes;
  }
  const StepProgram::Stream stream = program_.stream("reload");
  program_.order(compute_, stream, "memory for activations");
  program_.host_copy(stream, fmt::format("activations of layer {} back", layer), {bytes, HostWay::from_host});
  state.reloaded = program_.record(stream, "activations back");
}

void StepComposer::await_reloaded(BlockState& state) {
  if (state.reloaded) program_.wait(compute_, *std::exchange(state.reloaded, std::nullopt));
}

}}  // namespace c3::workloads
