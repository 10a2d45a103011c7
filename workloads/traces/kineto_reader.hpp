#pragma once
/// Reads a trace of PyTorch's profiler (Kineto's JSON, of 2021 to today, CUDA and ROCm) of one rank.

#include <string>

#include "workloads/traces/json_splitter.hpp"
#include "workloads/traces/trace_event.hpp"

namespace c3 { inline namespace traces {

/// Reads \p source to its end. Memory is that of the events kept, and of the largest one.
/// Lenient: events may be in any order and of unknown categories, names need not be UTF-8, categories may have
/// their old spelling (Kernel, Runtime, Operator).
/// \param file for messages. \throws TraceError for what is not such a trace: the message names the event
Trace read_kineto(const std::string& file, const ByteSource& source);

}}  // namespace c3::traces
