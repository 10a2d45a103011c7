#pragma once
/// The [strategy.NAME] tables of an experiment.

#include <string>
#include <vector>

#include "configs/jobs/work_reader.hpp"
#include "configs/toml/section.hpp"
#include "workloads/experiment.hpp"

namespace c3 { inline namespace configs {

/// Reads `strategy` of \p root, in file order. \throws ConfigError for a stream that does not exist, and for CU
/// shares that are no multiple of the GPU's mask granule or leave other streams without a CU.
/// \param streams of the program; others may be named where \p work does not know all
std::vector<Strategy> read_strategies(Section& root, const std::vector<std::string>& streams,
                                      const StreamsOfWork& work, const GpuSpec& gpu);

}}  // namespace c3::configs
