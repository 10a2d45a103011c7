#include <string_view>
#include <utility>
#include <vector>

#include "configs/fields/framework_fields.hpp"
#include "configs/spec_readers.hpp"

namespace c3::inline configs {

KernelStyle read_kernel_style(Section& section, std::string_view key) {
  std::vector<std::pair<std::string_view, KernelStyle>> styles;
  for (const KernelStyle style : kKernelStyles)
    styles.emplace_back(name_of(style), style);
  return section.choice<KernelStyle>(key, styles);
}

Framework read_framework(Section& section) {
  Framework framework;
  framework.name = section.preset_name();
  read_fields(section, framework, kFrameworkFields);
  section.finish();
  return framework;
}

}  // namespace c3::configs
