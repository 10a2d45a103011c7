#pragma once
/// What the kernels of recurrences multiply, load and store: one table, a row for each kernel.

#include <cstdint>
#include <string_view>

#include "gpu/kernels/scan/scan_shape.hpp"

namespace c3 { inline namespace gpu {

/// Who works on what at the same time.
enum class ScanGrid : std::uint8_t {
  chunks,     ///< a work group for each chunk of each head
  groups,     ///< a work group for each chunk of each key head
  sequences,  ///< a work group for each head and block of values, which goes through the chunks in turn
};

/// Multiply-adds of one chunk and head, as multiples of products of its extents: c tokens of a chunk, k and v
/// elements of a key and a value.
struct ScanProducts {
  double ckv = 0, cck = 0, ccv = 0, ccc = 0;
};

/// How often a kernel loads, or stores, each kind of tensor.
struct ScanTensors {
  double keys = 0;          ///< key_dim elements of each token and key head: Q, K
  double wide_keys = 0;     ///< the same in fp32
  double head_keys = 0;     ///< key_dim elements of each token and head: W, dQ, dK
  double values = 0;        ///< value_dim elements of each token and head
  double squares = 0;       ///< chunk elements of each token and head: A
  double wide_squares = 0;  ///< the same in fp32, of each token and key head: products of mamba2
  double states = 0;        ///< key_dim x value_dim elements of each chunk and head
  double wide_states = 0;   ///< the same in fp32
  double scalars = 0;       ///< fp32 numbers of each token and head: decays, betas, steps
};

struct ScanWork {
  ScanRule rule;
  ScanStage stage;
  ScanGrid grid;
  ScanProducts products = {};
  double exponentials = 0;  ///< multiples of c c, of one chunk and head
  ScanTensors loads = {}, stores = {};
  /// Products of a chunk that wait for one another, and each for its operand's load: of kernels that go through
  /// the chunks in turn.
  int chain = 0;
  bool substitutes = false;  ///< row after row of each of four blocks of a chunk
};

/// \throws std::logic_error where the rule has no such kernel.
const ScanWork& work_of(ScanRule rule, ScanStage stage);

/// The same of a whole kernel.
struct ScanCounts {
  std::int64_t work_groups = 1;
  std::int64_t steps = 1;   ///< chunks that a work group goes through in turn
  Flops flops;              ///< of matrix products, as executed: masked elements and empty tokens included
  double vector_flops = 0;  ///< of what is not a matrix product: one for each element that is stored
  double exponentials = 0;
  double elements = 0;       ///< loaded and stored
  double carried_loads = 0;  ///< of a state, before a work group's first chunk: 1, or 0
  std::int64_t rows = 0;     ///< that a work group's longest substitution takes in turn
  Bytes read;                ///< each input once
  Bytes read_again;          ///< from caches: heads that share a key, blocks of values that share an operand
  Bytes written;
  Bytes cleared;  ///< set to 0 before the kernel
};

ScanCounts counts_of(const ScanShape& shape);

}}  // namespace c3::gpu
