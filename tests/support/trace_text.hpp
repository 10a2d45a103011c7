#pragma once
/// Small traces as Kineto writes them, made by tests.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workloads/traces/kineto_reader.hpp"
#include "workloads/traces/trace_error.hpp"

namespace c3 {

/// The message with which \p read refuses a trace; empty: it does not.
template <class Read>
std::string refusal_of(Read read) {
  try {
    read();
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

/// Hands out \p text in parts of \p part bytes.
inline ByteSource source_of(std::string text, std::size_t part = 7) {
  return [text = std::move(text), part, at = std::size_t{0}](std::span<char> space) mutable {
    const std::size_t count = std::min({part, space.size(), text.size() - at});
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), count, space.begin());
    at += count;
    return count;
  };
}

/// Events are added one by one; times in microseconds.
class TraceText {
 public:
  TraceText& event(const std::string& category, const std::string& name, double start, double duration,
                   const std::string& place, const std::string& arguments) {
    events_.push_back(fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","ts":{},"dur":{},{},"args":{{{}}}}})",
                                  category, name, start, duration, place, arguments));
    return *this;
  }
  TraceText& call(const std::string& name, double start, double duration, int correlation, int thread = 1) {
    return event("cuda_runtime", name, start, duration, host(thread),
                 fmt::format(R"("correlation":{})", correlation));
  }
  TraceText& kernel(const std::string& name, double start, double duration, int correlation, int stream = 7,
                    const std::string& more = "") {
    return event("kernel", name, start, duration, fmt::format(R"("pid":0,"tid":{})", stream),
                 fmt::format(R"("device":0,"stream":{},"correlation":{}{})", stream, correlation, more));
  }
  TraceText& op(const std::string& name, double start, double duration, const std::string& arguments = "",
                int thread = 1) {
    return event("cpu_op", name, start, duration, host(thread), arguments);
  }
  TraceText& step(double start, double duration, int thread = 1) {
    return event("user_annotation", "ProfilerStep#1", start, duration, host(thread), "");
  }
  TraceText& raw(const std::string& event) {
    events_.push_back(event);
    return *this;
  }
  /// A launch call of 5 us, and its kernel.
  TraceText& launch(const std::string& name, double call_start, double start, double duration, int correlation,
                    int stream = 7, int thread = 1) {
    call("cudaLaunchKernel", call_start, 5, correlation, thread);
    return kernel(name, start, duration, correlation, stream);
  }

  std::string text(const std::string& more = "") const {
    return fmt::format(R"({{"schemaVersion":1,{}"traceEvents":[{}]}})", more, fmt::join(events_, ",\n"));
  }
  Trace read(const std::string& more = "") const { return read_kineto("trace.json", source_of(text(more))); }

 private:
  static std::string host(int thread) { return fmt::format(R"("pid":100,"tid":{})", thread); }

  std::vector<std::string> events_;
};

}  // namespace c3
