// Graphs of single layers, and the memory that they hold.

#include <algorithm>
#include <utility>
#include <vector>

#include "workloads/training/step_composer.hpp"

namespace c3 { inline namespace workloads {

// What a graph of a layer keeps has its place for good: one for each micro-batch that a chunk has in flight at
// once.
void StepComposer::hold_graphs() {
  std::vector<std::int64_t> in_flight(stage_.chunks.size()), most(stage_.chunks.size());
  const PipelinePass last = schedule_.splits_backward ? PipelinePass::weights : PipelinePass::backward;
  for (const PipelineTask& task : tasks()) {
    const auto chunk = static_cast<std::size_t>(task.chunk);
    if (task.pass == PipelinePass::forward) most[chunk] = std::max(most[chunk], ++in_flight[chunk]);
    if (task.pass == last) --in_flight[chunk];
  }
  for (std::size_t number = 0; number < stage_.chunks.size(); ++number) {
    const StageChunk& chunk = stage_.chunks[number];
    for (std::int64_t layer = chunk.first; layer < chunk.first + chunk.layers; ++layer) {
      const Bytes kept = kept_bytes(blocks_.layer(layer), is_recomputed(layer));
      program_.memory().allocate(compute_, MemoryClass::activations, "graphs",
                                 kept * static_cast<double>(most[number]));
    }
  }
}

// Within a layer of the "layers" mode, what is kept has a place already.
void StepComposer::begin_layer_graph() {
  is_in_layer_graph_ = setup_.graphs == StepGraphs::layers;
  if (is_in_layer_graph_) program_.begin_graph();
}

void StepComposer::end_layer_graph() {
  if (std::exchange(is_in_layer_graph_, false)) program_.end_graph();
}

Bytes StepComposer::kept_bytes(const BlockKernels& block, bool recomputed) const {
  const bool whole = recomputed && setup_.recompute != Recompute::attention;
  Bytes sum = whole ? stream_bytes() : Bytes{};
  for (const PartKernel& kernel : block.forward)
    sum += kept_bytes(kernel, recomputed ? Keeping::survivors : Keeping::all);
  return sum;
}

// Nothing where graphs hold it.
StepComposer::Tensor StepComposer::keep(const std::string& name, Bytes bytes) {
  return program_.memory().allocate(compute_, MemoryClass::activations, name,
                                    is_in_layer_graph_ ? Bytes{} : bytes);
}

}}  // namespace c3::workloads
