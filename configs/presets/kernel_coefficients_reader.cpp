#include <fmt/format.h>

#include <string>

#include "configs/fields/gpu_fields.hpp"
#include "configs/presets/spec_readers.hpp"
#include "gpu/kernels/coefficient_table.hpp"

namespace c3 { inline namespace configs {
namespace {

double read_value(Section& section, const std::string& key, const CoefficientKey& of) {
  const double value = section.fraction(key, of.high);
  section.explain(key, of.meaning);
  if (value < of.low)
    section.fail(key, fmt::format("must be between {} and {}: {}", of.low, of.high, of.meaning));
  return value;
}

/// All variants that the file has, whether or not this GPU uses them: `share_default` and `share_ampere`.
void read_variants(Section& section, const CoefficientKey& of, CoefficientTable& table) {
  const auto read = [&](const std::string& key) {
    table.values.emplace_back(key, read_value(section, key, of));
  };
  read(fmt::format("{}_default", of.key));
  for (const ChosenKey& key : section.keys_beginning(fmt::format("{}_", of.key)))
    read(key.name);
}

}  // namespace

CoefficientTable read_coefficient_table(Section section, std::string_view kernel_class) {
  CoefficientTable table{std::string(kernel_class), {}};
  for (const CoefficientKey& of : coefficient_keys(kernel_class)) {
    const std::string key(of.key);
    if (of.differs) {
      read_variants(section, of, table);
    } else {
      table.values.emplace_back(key, read_value(section, key, of));
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
