#pragma once
/// Which kind of parallelism communication serves.

#include <string>

namespace c3 { inline namespace workloads {

/// "data parallel", "tensor parallel", "context parallel", "expert parallel", "pipeline" or "host copies" of
/// the streams of a training step that a composer names; of others the stream's name.
std::string communication_kind(const std::string& stream);

}}  // namespace c3::workloads
