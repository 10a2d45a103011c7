#pragma once
/// Numbers that cells of a study's tables must be.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace c3 { inline namespace studies {

/// Told what is wrong with the cell, it throws.
using Refuse = std::function<void(const std::string& reason)>;

double number_above_0(std::string_view cell, const Refuse& refuse);
double number_from_0(std::string_view cell, const Refuse& refuse);
/// A whole number from 1 to \p largest.
std::int64_t whole_number(std::string_view cell, std::int64_t largest, const Refuse& refuse);

}}  // namespace c3::studies
