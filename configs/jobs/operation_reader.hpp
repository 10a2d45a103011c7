#pragma once
/// One entry of a stream's `run`: a layer's GEMM by name, or a table with one key that says what to do.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/presets/model_reader.hpp"
#include "configs/toml/section.hpp"
#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/program/written_streams.hpp"

namespace c3 { inline namespace configs {

/// What the operations of a model's layer work on.
struct LayerInput {
  ModelDimensions model;
  std::int64_t tokens = 0;           ///< per GPU: the m of every GEMM
  std::int64_t tensor_parallel = 1;  ///< GPUs that share each weight: attn.qkv and mlp.gate_up by outputs
  DType dtype = DType::bf16;
};

class OperationReader {
 public:
  /// Both must outlive it. \param layer absent: only shapes and sizes written out can be run \param hbm of the
  /// GPUs
  OperationReader(const std::optional<LayerInput>& layer, const HbmSpec& hbm) : layer_(layer), hbm_(hbm) {}

  /// \param where dotted name of the entry, as in "stream.compute.run[0]". Ranks and sizes of a collective are
  /// checked against each other and the node by check_groups.
  WrittenOperation read(const Node& entry, const std::string& where) const;

  /// What `run` may hold.
  static Rule run_rule();

 private:
  static Rule collective_rule(CollectiveKind kind);
  WrittenOperation read(Section& section) const;
  WrittenOperation collective(Section& section, CollectiveKind kind) const;
  WrittenOperation detailed_collective(Section& section, CollectiveKind kind) const;
  Bytes named_size(const std::string& what, const Origin& at, const std::string& where) const;
  void read_size(Section& section, std::string_view key, CollectiveCall& call) const;
  /// Whole, and this GPU's part of it.
  WeightShape weight(std::string_view operation, const Origin& at, const std::string& where) const;
  WeightShape own_weight(std::string_view operation, const Origin& at, const std::string& where) const;
  GemmShape layer_gemm(std::string_view name, const Origin& at, const std::string& where) const;

  const std::optional<LayerInput>& layer_;
  const HbmSpec& hbm_;
};

}}  // namespace c3::configs
