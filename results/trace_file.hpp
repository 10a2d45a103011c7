#pragma once
/// One rank's timeline as Chrome JSON in the shape of PyTorch's profiler (Kineto), which Perfetto,
/// chrome://tracing, speedscope and HolisticTraceAnalysis (HTA) read. Written event by event.

#include <cstdint>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "results/result_file.hpp"

namespace c3 { inline namespace results {

/// A row of the viewer. Slices on one track nest, or viewers drop them.
struct TraceTrack {
  int process = 0;
  std::int64_t thread = 0;
};

/// A slice; dates in ps. \p args is a JSON object.
struct TraceSlice {
  TraceTrack track;
  std::string_view name;
  std::string_view category;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string_view args = "{}";
};

class TraceFile {
 public:
  /// Reserves a temporary file beside \p target. \throws IoError
  explicit TraceFile(const std::filesystem::path& target) : temporary_(target) {}

  /// Comes first. \p header is a JSON object, indented, whose members come before the events. \throws IoError
  void begin(std::string_view header);

  void name_process(int process, std::string_view name, std::string_view label, int position);
  void name_thread(TraceTrack track, std::string_view name);  ///< tracks stand in the order of their numbers
  void slice(const TraceSlice& slice);
  /// Sets counter \p name of \p process to \p value at \p at [ps].
  void counter(int process, std::string_view name, std::int64_t at, double value);
  /// An arrow from the slice around \p start on \p from to the one around \p end on \p to. \p id pairs its
  /// ends.
  void launch_arrow(std::uint64_t id, TraceTrack from, std::int64_t start, TraceTrack to, std::int64_t end);

  void finish();  ///< writes the end and all that is buffered. \throws IoError
  void commit();  ///< gives the file its name. \throws IoError

 private:
  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args);
  void flush();

  TemporaryFile temporary_;
  fmt::memory_buffer buffer_;
  bool is_first_event_ = true;
};

}}  // namespace c3::results
