#pragma once
/// Dates as numbers that are equal where the dates must be.

#include <cstdint>
#include <map>
#include <vector>

namespace c3 { inline namespace workloads {

/// Of a date, or of what a date follows from.
using DateNumber = std::uint32_t;
using DateSignature = std::vector<DateNumber>;

/// The first number of most signatures: what kind of thing they describe.
enum DateKind : DateNumber { kBegin, kKernel, kCollective, kExchange, kEnd, kLoad, kUnknown, kTrace };

/// Equal numbers for equal signatures.
class DateNumbers {
 public:
  DateNumber of(const DateSignature& signature) {
    return numbers_.emplace(signature, static_cast<DateNumber>(numbers_.size())).first->second;
  }

 private:
  std::map<DateSignature, DateNumber> numbers_;
};

}}  // namespace c3::workloads
