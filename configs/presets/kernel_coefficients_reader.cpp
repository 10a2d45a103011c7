#include <fmt/format.h>

#include <string>

#include "configs/fields/gpu_fields.hpp"
#include "configs/presets/spec_readers.hpp"
#include "gpu/kernels/coefficient_table.hpp"

namespace c3 { inline namespace configs {
namespace {

double read_value(Section& section, const std::string& key, const CoefficientKey& coefficient) {
  const double value = section.fraction(key, coefficient.high);
  section.explain(key, coefficient.meaning);
  if (value < coefficient.low)
    section.fail(key, fmt::format("must be between {} and {}: {}", coefficient.low, coefficient.high,
                                  coefficient.meaning));
  return value;
}

/// All variants that the file has, whether or not this GPU uses them: `share_default` and `share_ampere`.
void read_variants(Section& section, const CoefficientKey& coefficient, CoefficientTable& table) {
  const auto read = [&](const std::string& key) {
    table.values.emplace_back(key, read_value(section, key, coefficient));
  };
  read(fmt::format("{}_default", coefficient.key));
  for (const ChosenKey& key : section.keys_beginning(fmt::format("{}_", coefficient.key)))
    read(key.name);
}

}  // namespace

CoefficientTable read_coefficient_table(Section section, std::string_view kernel_class) {
  CoefficientTable table{std::string(kernel_class), {}};
  for (const CoefficientKey& coefficient : coefficient_keys(kernel_class)) {
    const std::string key(coefficient.key);
    if (coefficient.differs) {
      read_variants(section, coefficient, table);
    } else {
      table.values.emplace_back(key, read_value(section, key, coefficient));
    }
  }
  section.finish();
  return table;
}

KernelCoefficients read_kernel_coefficients(Section section, std::string_view family,
                                            std::string_view technology) {
  KernelCoefficients all;
  for (const std::string_view kernel_class : kKernelClasses)
    apply(read_coefficient_table(section.table(kernel_class), kernel_class), family, technology, all);
  section.explain(kKernelTables);
  section.finish();
  return all;
}

}}  // namespace c3::configs
