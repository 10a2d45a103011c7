#pragma once
/// \file
/// A benchmark from execution traces: what each rank runs on its GPU, in order, standing alone.
/// The idea is that of Mystique (Liang et al., "Mystique: Enabling Accurate and Scalable Generation of
/// Production AI Benchmarks", ISCA 2023): operators with shapes and types reproduce a job without its code and
/// its data.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/traces/execution/execution_trace.hpp"
#include "workloads/traces/execution/operator_class.hpp"
#include "workloads/traces/kernel_class.hpp"

namespace c3 { inline namespace traces {

/// A collective that is issued, or waited for.
struct ListedCollective {
  bool is_wait = false;
  std::string kind;             ///< all_reduce, ..; empty: not known
  std::string dtype;            ///< c10's name
  std::string group;            ///< the process group
  bool has_group_name = false;  ///< the group's text is the same on all ranks; an address else (schema 1.0.1)
  std::string splits;           ///< "in > out" of an all-to-all with unequal shares
  std::optional<std::int64_t> bytes;  ///< of the larger side, in and out, of one rank
  std::optional<std::int64_t> group_size;
  std::optional<std::int64_t> sequence;  ///< a wait has that of its collective

  friend bool operator==(const ListedCollective&, const ListedCollective&) = default;
};

struct ListedOperator {
  WorkClass work = WorkClass::other;
  std::int64_t thread = 0;  ///< of the host that issues it, counted from 1
  std::string name;
  std::string dims;      ///< as in OpDetails: "[[4, 8], []]"
  std::string types;     ///< as in OpDetails
  std::string concrete;  ///< as in OpDetails
  std::optional<ListedCollective> collective;
  bool with_host = false;  ///< a copy between the memories of the host and of a GPU
  // Means of its occurrences in a Kineto trace; nothing without one.
  std::optional<Picoseconds> gpu_time;  ///< of all that it launched
  std::optional<std::int64_t> kernels;  ///< kernels, copies and memsets that it launched
  /// The median time from the begin of what is before it in the list, or of the step, to its own begin, without
  /// waiting for the GPU. It is a median because the first repetition loads modules.
  std::optional<Picoseconds> host_time;
  bool after_wait = false;  ///< in this time the host waited for the GPU

  bool has_shapes() const { return has_sizes(dims); }
  friend bool operator==(const ListedOperator&, const ListedOperator&) = default;
};

struct RankOperators {
  int rank = 0;
  std::vector<ListedOperator> operators;  ///< in the order in which they began

  friend bool operator==(const RankOperators&, const RankOperators&) = default;
};

/// Operators, by rank.
struct OperatorList {
  std::vector<RankOperators> ranks;

  friend bool operator==(const OperatorList&, const OperatorList&) = default;
};

/// The GPU operators of \p trace and its waits for collectives; \p rank as its rank.
RankOperators list_operators(const ExecutionTrace& trace, int rank);

/// What is listed: GPU operators and waits for collectives, by node.
std::vector<GpuOperator> listed_nodes(const ExecutionTrace& trace);

}}  // namespace c3::traces
