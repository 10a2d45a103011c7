#pragma once
/// \file
/// Benchmarks made from benchmarks.

#include "workloads/traces/execution/operator_list.hpp"

namespace c3 { inline namespace traces {

/// Names that are not PyTorch's own (`aten::`, `record_param_comms`) or of flash-attn become their class and a
/// number, those with softmax, a norm, gelu or dropout in their name that word and a number; names of process
/// groups become numbers, and texts among values go, alike on all ranks. Classes, shapes, types, numbers and
/// order stay: whatever is computed from those of plain lists comes out the same.
OperatorList obfuscated(OperatorList list);

/// What \p first does and then \p second. Sequence numbers of the second go on behind those of the first.
/// \throws TraceSetError if they are of other ranks
OperatorList concatenated(OperatorList first, const OperatorList& second);

/// The list \p times times in turn. \throws std::invalid_argument for less than once
OperatorList repeated(const OperatorList& list, int times);

/// The list for \p ranks ranks, rank i as rank i modulo those there are, and collectives over that many,
/// those of one rank alone aside. Their bytes stay: data parallelism, in which each rank has its share of the
/// batch and all of the gradients. \throws TraceSetError if ranks differ in what they run, or a collective
/// is of a part of them
OperatorList scaled(const OperatorList& list, int ranks);

/// Operators of \p list for \p ranks ranks (0: those listed), \p times times in turn: to be held against
/// kMostListed before the list is made.
double operators_of(const OperatorList& list, int ranks, int times);
inline constexpr double kMostListed = 2e7;  ///< more need gigabytes

/// The list without the operators of \p work. Without collectives there are no waits either.
OperatorList dropped(OperatorList list, WorkClass work);

}}  // namespace c3::traces
