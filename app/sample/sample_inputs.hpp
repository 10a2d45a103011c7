#pragma once
/// What c3sim sample kernels reads: tables, traces, imported runs and results of c3sim run.

#include <string>
#include <vector>

#include "app/sample/sample_request.hpp"
#include "workloads/sampling/invocations.hpp"

namespace c3 { inline namespace app {

/// What is read, and what of it is to be said.
struct SampleInput {
  Invocations invocations;
  std::vector<std::string> notes;
};

/// Reads the files of \p request. \throws UsageError, IoError and what reading tables and traces throw
SampleInput read_sample_input(const SampleKernelsRequest& request);

}}  // namespace c3::app
