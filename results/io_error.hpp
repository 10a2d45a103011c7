#pragma once
/// The environment said no: a file that cannot be made, written, read or understood. Exit code 74.

#include <stdexcept>
#include <string>
#include <string_view>

namespace c3 {

class IoError : public std::runtime_error {
 public:
  /// The text is "PATH: cannot WHAT: REASON".
  IoError(std::string_view path, std::string_view what, std::string_view reason)
      : std::runtime_error(std::string(path) + ": cannot " + std::string(what) + ": " + std::string(reason)) {}
};

}  // namespace c3
