#pragma once
/// [workload.lengths]: how long the sequences of a training job are.

#include <cstdint>
#include <optional>

#include "configs/toml/section.hpp"
#include "workloads/sampling/sequence_lengths.hpp"
#include "workloads/training/recurrent_step.hpp"

namespace c3 { inline namespace configs {

/// Makes the path of `workload.lengths.file` of \p root absolute (place_path).
void place_lengths(Table& root);

/// \param sequence tokens of the longest sequence that a step takes. Absent without the table.
std::optional<SequenceLengths> read_lengths(Section& root, std::int64_t sequence);

/// For a step of a recurrent network, which packs nothing: state would run on into the next sequence.
std::optional<SequenceLengths> read_lengths(Section& root, const RecurrentJob& job);

}}  // namespace c3::configs
