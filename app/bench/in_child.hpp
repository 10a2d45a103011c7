#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

namespace c3::bench {

/// Runs \p work in a forked process, because SimGrid's platform and a peak of memory belong to a process. What
/// \p work writes to its argument comes back through a pipe into \p result. \throws std::runtime_error when the
/// child fails, having said why on stderr; std::system_error when there can be none.
void run_in_child(std::span<std::byte> result, const std::function<void(std::span<std::byte>)>& work);

/// Like run_in_child(), for a \p Report that can be copied byte by byte.
template <class Report>
Report report_of_child(const std::function<Report()>& work) {
  Report report{};
  run_in_child(std::as_writable_bytes(std::span(&report, 1)), [&work](std::span<std::byte> bytes) {
    const Report mine = work();
    std::memcpy(bytes.data(), &mine, sizeof mine);
  });
  return report;
}

/// Largest resident set of this process so far, in bytes.
std::uint64_t peak_rss();

}  // namespace c3::bench
