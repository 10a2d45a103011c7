#include "configs/presets/shipped_files.hpp"

#include <system_error>

namespace c3 { inline namespace configs {

namespace fs = std::filesystem;

fs::path shipped_folder(std::string_view name, const fs::path& in_source_tree) {
  std::error_code failed;
  const fs::path binary = fs::read_symlink("/proc/self/exe", failed);
  const fs::path beside = (binary.parent_path() / C3_DATA_FROM_BINARY / name).lexically_normal();
  if (!failed && fs::is_directory(beside, failed)) return beside;
  if (fs::is_directory(in_source_tree, failed)) return in_source_tree;
  return fs::path(C3_INSTALLED_DATA) / name;
}

}}  // namespace c3::configs
