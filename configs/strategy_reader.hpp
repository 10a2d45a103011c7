#pragma once
/// The [strategy.NAME] tables of an experiment.

#include <map>
#include <string>
#include <vector>

#include "configs/section.hpp"
#include "workloads/experiment.hpp"

namespace c3::inline configs {

/// Reads `strategy` of \p root, in file order. \throws ConfigError for a stream that does not exist, and for CU
/// shares that are no multiple of the GPU's mask granule or leave other streams without a CU.
/// \param usual policies of streams where the file says nothing else
std::vector<Strategy> read_strategies(Section& root, const std::vector<std::string>& streams,
                                      const std::map<std::string, StreamPolicy>& usual, const GpuSpec& gpu);

}  // namespace c3::configs
