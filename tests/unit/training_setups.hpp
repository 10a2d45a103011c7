#pragma once
/// Small models and frameworks without host costs, whose kernels, bytes and streams can be counted by hand.

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gpu/kernels/attention/attention_shape.hpp"
#include "gpu/kernels/operator_table.hpp"
#include "workloads/models/transformer.hpp"
#include "workloads/training/model_blocks.hpp"
#include "workloads/training/training_step.hpp"

namespace c3::test {

/// Gated, four heads for each two of keys and values, a head of its own. A layer has 3 h^2 + 3 h f + 2 h
/// weights.
inline ModelDimensions llama_like(std::int64_t layers = 3) {
  ModelDimensions model;
  model.name = "llama-like";
  model.hidden = 512;
  model.ffn = 1536;
  model.heads = 8;
  model.kv_heads = 4;
  model.layers = layers;
  model.gated = true;
  model.vocabulary = 1000;
  model.tied_embedding = false;
  return model;
}

/// A layer has 12 h^2 + 13 h weights and biases.
inline ModelDimensions gpt_like(std::int64_t layers = 2) {
  ModelDimensions model;
  model.name = "gpt-like";
  model.hidden = 512;
  model.ffn = 2048;
  model.heads = model.kv_heads = 8;
  model.layers = layers;
  model.vocabulary = 1024;
  model.positions = 256;
  model.norm = Norm::layernorm;
  model.activation = Activation::gelu;
  model.biases = true;
  return model;
}

/// fp32 parameters, fp32 gradients, all overlapped; hosts cost nothing.
inline Framework eager_framework() {
  Framework framework;
  framework.name = "eager";
  framework.attention = AttentionCode::flash2;
  framework.grouped_heads = false;
  framework.separate_projections = true;
  framework.bucket = Bytes{25 << 20};
  framework.first_bucket = Bytes{1 << 20};
  return framework;
}

/// fp16 with a master copy, products for attention, dropout, nothing overlapped.
inline Framework megatron_framework() {
  Framework framework = eager_framework();
  framework.name = "megatron";
  framework.kernels = KernelStyle::megatron;
  framework.attention = AttentionCode::products;
  framework.grouped_heads = true;
  framework.separate_projections = false;
  framework.dropout = true;
  framework.master_copy = true;
  framework.gradient_dtype = DType::fp16;
  framework.overlaps_gradients = framework.overlaps_tensor = false;
  return framework;
}

inline TrainingSetup llama_setup(std::int64_t layers = 3) {
  return {.model = llama_like(layers), .framework = eager_framework(), .sequence = 128, .micro_batch = 2};
}

inline TrainingSetup gpt_setup(std::int64_t layers = 2) {
  return {.model = gpt_like(layers),
          .framework = megatron_framework(),
          .dtype = DType::fp16,
          .sequence = 128,
          .micro_batch = 2,
          .sharding = Sharding::none};
}

inline StepBlock embedding_kernels(const TrainingSetup& setup) { return model_blocks(setup).embedding; }
inline StepBlock layer_kernels(const TrainingSetup& setup) { return model_blocks(setup).layer(0); }
inline StepBlock head_kernels(const TrainingSetup& setup) { return model_blocks(setup).head; }

/// Why no step of \p setup is written; empty where one is.
inline std::string refusal_of_step(const TrainingSetup& setup, int ranks) {
  try {
    training_step(setup, ranks);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

/// Operations of the stream with this name; none where there is no such stream.
inline const std::vector<Operation>& operations_of(const WrittenStep& step, const std::string& stream) {
  static const std::vector<Operation> none;
  const auto number = step.program.stream_named(stream);
  return number ? step.program.scripts.front().streams[*number] : none;
}

/// Calls of one kind, in the order of their stream.
inline std::vector<CollectiveCall> calls_of(const WrittenStep& step, const std::string& stream,
                                            CollectiveKind kind) {
  std::vector<CollectiveCall> calls;
  for (const Operation& operation : operations_of(step, stream)) {
    const CollectiveCall* call = step.program.call_of(operation);
    if (call != nullptr && call->kind == kind) calls.push_back(*call);
  }
  return calls;
}

/// Flops of one rank's attention kernels in ranges that begin with \p range, and of all its other products.
struct Products {
  double attention = 0.0, others = 0.0;
};
inline Products products_of(const WrittenStep& step, const std::string& range) {
  Products products;
  for (const Operation& operation : operations_of(step, "compute")) {
    const Operator* op = kernel_of(operation);
    if (op == nullptr || !step.program.range_of(operation).starts_with(range)) continue;
    (op->as<AttentionShape>() != nullptr ? products.attention : products.others) += matrix_flops(*op).value;
  }
  return products;
}

inline const HostThread& host_of(const WrittenStep& step) {
  return step.program.scripts.front().host->threads.front();
}

inline Bytes bytes_of(const std::vector<CollectiveCall>& calls) {
  Bytes sum;
  for (const CollectiveCall& call : calls)
    sum += call.bytes;
  return sum;
}

/// Tells for one stage what has ended before an operation may begin: by streams, events and what the host waits
/// for, but not because it was launched earlier.
class HappensBefore {
 public:
  explicit HappensBefore(const WrittenStep& step, std::size_t stage = 0) {
    const Script& script = step.program.scripts[stage];
    std::map<EventId, std::size_t> records;
    for (const std::vector<Operation>& stream : script.streams) {
      first_.push_back(after_.size());
      for (const Operation& operation : stream) {
        if (const auto* record = std::get_if<RecordEvent>(&operation.work))
          records[record->event] = after_.size();
        after_.emplace_back();
      }
    }
    for (std::size_t s = 0; s < script.streams.size(); ++s) {
      const std::vector<Operation>& operations = script.streams[s];
      for (std::size_t i = 0; i < operations.size(); ++i) {
        if (i > 0) after_[node({s, i})].push_back(node({s, i - 1}));
        if (const auto* wait = std::get_if<WaitEvent>(&operations[i].work))
          after_[node({s, i})].push_back(records.at(wait->event));
      }
    }
    std::vector<std::size_t> seen_by_host;
    for (const HostStep& host : script.host->threads.front().steps) {
      if (host.waits_for) seen_by_host.push_back(records.at(*host.waits_for));
      if (!host.launches) continue;
      std::vector<std::size_t>& before = after_[node(*host.launches)];
      before.insert(before.end(), seen_by_host.begin(), seen_by_host.end());
    }
  }

  bool operator()(OperationPlace first, OperationPlace then) const {
    std::vector<char> visited(after_.size());
    std::vector<std::size_t> open{node(then)};
    while (!open.empty()) {
      const std::size_t next = open.back();
      open.pop_back();
      if (next == node(first)) return true;
      if (std::exchange(visited[next], 1) != 0) continue;
      open.insert(open.end(), after_[next].begin(), after_[next].end());
    }
    return false;
  }

 private:
  using Node = std::size_t;
  Node node(OperationPlace place) const { return first_[place.stream] + place.operation; }
  std::vector<Node> first_;
  std::vector<std::vector<Node>> after_;  ///< by operation: what has ended before
};

struct Placed {
  OperationPlace place;
  const Operation* operation;
  std::string name, range;
};

/// Operations of \p stream whose name begins with \p name, in order.
inline std::vector<Placed> named(const WrittenStep& step, const std::string& stream, const std::string& name) {
  std::vector<Placed> found;
  const std::vector<Operation>& operations = operations_of(step, stream);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    const bool is_event = kernel_of(operation) == nullptr && step.program.call_of(operation) == nullptr;
    const std::string& operation_name = step.program.name_of(operation);
    if (!is_event && operation_name.starts_with(name))
      found.push_back({{*step.program.stream_named(stream), i},
                       &operation,
                       operation_name,
                       step.program.range_of(operation)});
  }
  return found;
}

}  // namespace c3::test
