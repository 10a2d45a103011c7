#include "configs/presets/preset_folders.hpp"

#include <cstdlib>
#include <string_view>

#include "configs/presets/shipped_files.hpp"

namespace c3 { inline namespace configs {

std::vector<std::filesystem::path> preset_folders() {
  std::vector<std::filesystem::path> folders;
  const char* variable = std::getenv("C3SIM_CONFIGS");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (colon != 0) folders.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  folders.push_back(shipped_folder("configs", C3_SOURCE_CONFIGS));
  return folders;
}

}}  // namespace c3::configs
