#pragma once
/// The environment refused: a file cannot be created, written, read or understood. Exit code 74.

#include <stdexcept>
#include <string>
#include <string_view>

namespace c3 { inline namespace files {

class IoError : public std::runtime_error {
 public:
  /// The text is "PATH: cannot WHAT: REASON".
  IoError(std::string_view path, std::string_view what, std::string_view reason)
      : std::runtime_error(std::string(path) + ": cannot " + std::string(what) + ": " + std::string(reason)),
        reason_(reason) {}

  /// REASON alone, for a message that names the path in another way.
  const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
};

}}  // namespace c3::files
