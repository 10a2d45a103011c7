#pragma once
/// Coefficient tables as files: configs/kernels/CLASS.toml, and what `c3sim calibrate` writes.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernels/coefficient_table.hpp"

namespace c3 { inline namespace configs {

/// Reads the table of \p kernel_class from \p file. \throws ConfigError
CoefficientTable load_coefficients(std::string_view kernel_class, const std::filesystem::path& file);

/// The file of configs/kernels/ that ships it. \throws ConfigError when no folder of presets has it.
std::filesystem::path shipped_coefficients(std::string_view kernel_class);

/// The keys of the table in \p file that no fit made (kind published or assumed), and that none should touch.
std::vector<std::string> unfitted_coefficients(std::string_view kernel_class,
                                               const std::filesystem::path& file);

/// `key = { value = .., kind = .., source = .. }` and the line's end; the value with 6 digits.
std::string sourced_line(std::string_view key, double value, std::string_view kind, std::string_view source);

/// A file that load_coefficients and the `extends` of a GPU preset read: \p comment on top, and each value
/// derived from \p source; values of \p start that the fit did not change keep saying what they say there.
std::string coefficient_text(const CoefficientTable& fitted, const std::filesystem::path& start,
                             std::string_view comment, std::string_view source);

}}  // namespace c3::configs
