#pragma once
/// Kernels of a program, each with its duration, in the order in which they ran.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/units.hpp"

namespace c3 { inline namespace sampling {

/// 12 bytes for each invocation, so that ten million fit in 120 MB.
class Invocations {
 public:
  /// \param duration at least 0 and finite
  void add(std::string_view kernel, Seconds duration);

  std::size_t size() const { return durations_.size(); }
  Seconds duration(std::size_t invocation) const { return durations_[invocation]; }
  /// Position in names().
  std::uint32_t kernel(std::size_t invocation) const { return kernels_[invocation]; }
  const std::string& name(std::size_t invocation) const { return names_[kernels_[invocation]]; }
  const std::vector<std::string>& names() const { return names_; }  ///< of kernels, in the order of first use
  Seconds total() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::uint32_t> kernels_;
  std::vector<Seconds> durations_;
};

}}  // namespace c3::sampling
