#pragma once
/// The search of placements that [shard] of an experiment describes.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "configs/jobs/experiment_reader.hpp"

namespace c3 { inline namespace app {

struct PlacedFile {
  ExperimentFile file;
  std::optional<Placement> placement = {};  ///< the placement found; absent where nothing was searched for
  std::string note = {};                    ///< a note on it, for a user
};

/// \p file with its embedding tables where the fastest of the placements has them that its [shard] tries: each
/// is simulated once, under the first strategy. Without [shard], or where that has a placement, \p file itself.
/// \param progress may be empty; gets how many placements of how many are done. \throws InfeasibleError,
/// InterruptedError
PlacedFile with_placed_tables(const ExperimentFile& file,
                              const std::function<void(std::size_t, std::size_t)>& progress = {});

}}  // namespace c3::app
