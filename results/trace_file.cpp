#include "results/trace_file.hpp"

#include <iterator>
#include <utility>
#include "base/json.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;

/// Microseconds, as the format wants them, with every picosecond.
std::string microseconds(std::int64_t picoseconds) {
  constexpr std::int64_t kPerMicrosecond = 1'000'000;
  return fmt::format("{}.{:06}", picoseconds / kPerMicrosecond, picoseconds % kPerMicrosecond);
}

/// \p header without its closing brace, so that the events can follow.
std::string_view opened(std::string_view header) {
  header.remove_suffix(header.size() - header.rfind('}'));
  header.remove_suffix(header.size() - 1 - header.find_last_not_of(" \n"));
  return header;
}

}  // namespace

void TraceFile::begin(std::string_view header) {
  fmt::format_to(std::back_inserter(buffer_), "{},\n  \"traceEvents\": [", opened(header));
  flush();
}

template <class... Args>
void TraceFile::event(fmt::format_string<Args...> format, Args&&... args) {
  buffer_.append(std::string_view(is_first_event_ ? "\n" : ",\n"));
  is_first_event_ = false;
  fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
  if (buffer_.size() >= kBufferBytes) flush();
}

void TraceFile::flush() {
  temporary_.append({buffer_.data(), buffer_.size()});
  buffer_.clear();
}

void TraceFile::name_process(int process, std::string_view name, std::string_view label, int position) {
  event(R"({{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "args": {{"name": {}}}}})", process,
        json_quoted(name));
  event(R"({{"ph": "M", "name": "process_labels", "pid": {}, "tid": 0, "args": {{"labels": {}}}}})", process,
        json_quoted(label));
  event(R"({{"ph": "M", "name": "process_sort_index", "pid": {}, "tid": 0, "args": {{"sort_index": {}}}}})",
        process, position);
}

void TraceFile::name_thread(TraceTrack track, std::string_view name) {
  event(R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": {}}}}})", track.process,
        track.thread, json_quoted(name));
  event(R"({{"ph": "M", "name": "thread_sort_index", "pid": {0}, "tid": {1}, "args": {{"sort_index": {1}}}}})",
        track.process, track.thread);
}

void TraceFile::slice(const TraceSlice& slice) {
  event(R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {}}})",
        slice.category, json_quoted(slice.name), slice.track.process, slice.track.thread,
        microseconds(slice.start), microseconds(slice.end - slice.start), slice.args);
}

void TraceFile::counter(int process, std::string_view name, std::int64_t at, double value) {
  event(R"({{"ph": "C", "name": {}, "pid": {}, "ts": {}, "args": {{"used": {:.12g}}}}})", json_quoted(name),
        process, microseconds(at), value);
}

void TraceFile::launch_arrow(std::uint64_t id, TraceTrack from, std::int64_t start, TraceTrack to,
                             std::int64_t end) {
  constexpr auto kFormat =
      R"({{"ph": "{}", "id": {}, "cat": "ac2g", "name": "ac2g", "pid": {}, "tid": {}, "ts": {}{}}})";
  event(kFormat, 's', id, from.process, from.thread, microseconds(start), "");
  event(kFormat, 'f', id, to.process, to.thread, microseconds(end), R"(, "bp": "e")");
}

void TraceFile::finish() {
  constexpr std::string_view kEnd = "\n  ]\n}\n";
  buffer_.append(kEnd);
  flush();
}

void TraceFile::commit() { temporary_.rename_to_target(); }

}}  // namespace c3::results
