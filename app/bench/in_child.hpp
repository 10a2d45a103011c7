#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace c3::bench {

/// Runs \p work in a forked process, because SimGrid's platform and a peak of memory belong to a process. What
/// \p work writes to its argument comes back through a pipe into \p result. \throws std::runtime_error when the
/// child fails, having said why on stderr; std::system_error when there can be none.
void run_in_child(std::span<std::byte> result, const std::function<void(std::span<std::byte>)>& work);

}  // namespace c3::bench
