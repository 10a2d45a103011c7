#pragma once
/// The sub-layers of T3's study (arXiv 2401.16677, section 5), read from studies/t3/sublayers.csv.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernels/gemm/gemm_shape.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace studies {

/// One tensor-parallel sub-layer whose GEMM ends in an all-reduce.
struct Sublayer {
  std::string group;  ///< "main" or "large"
  std::string model;
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t tokens = 0;
  int tp = 0;                 ///< GPUs over which its weights are cut
  std::string name;           ///< OP, FC-2, FC-1 or IP
  std::int64_t k_hidden = 0;  ///< K of the GEMM, in hidden / tp
  bool forward = false;       ///< its all-reduce belongs to the forward pass; else to the backward pass

  std::string id() const;  ///< "mega-gpt-2.tp8.fc-2"
  GemmShape gemm() const;
  Bytes partial_sums() const;  ///< what the all-reduce is over
  bool is_output_projection() const { return name == "OP"; }
};

struct SublayerList {
  std::vector<Sublayer> sublayers;
  std::vector<std::string> broken;  ///< lines that are none: what is wrong with each, with its place
};

/// \throws ConfigError for a table without the columns or without rows, IoError
SublayerList read_sublayers(const std::filesystem::path& file);

/// \p base with the sub-layer's GEMM, reduce-scatter and all-gather in place of its own, on `tp` GPUs.
Experiment experiment_of(Experiment base, const Sublayer& sublayer);

}}  // namespace c3::studies
