#pragma once

#include <stdexcept>

namespace c3 { inline namespace base {

/// The command line asks for what is not there, and only the verb could know. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}}  // namespace c3::base
