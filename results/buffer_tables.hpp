#pragma once
/// Tensors that camp on channels of memory, in the file: /strategies/<name>/buffers.

#include <string>
#include <vector>

#include "results/result_file.hpp"
#include "results/result_reader.hpp"
#include "workloads/execute/buffer_reach.hpp"

namespace c3 { inline namespace results {

struct RecordedBuffers {
  std::string mapping;  ///< the run's mapping: "ipoly"
  std::vector<BufferReach> buffers;
};

/// Writes nothing unless HBM of \p experiment is simulated as channels.
void write_buffers(const H5Id& strategy, const Experiment& experiment, NameTable& names);

/// None of a file before 1.12.0 or of memory as a whole. \throws IoError
RecordedBuffers read_buffers(const ResultReader& file, const std::string& strategy);

}}  // namespace c3::results
