#include "base/module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace c3 { inline namespace base {

// Not left to the loader alone: under AddressSanitizer it is libasan that calls it, whose folders it then looks
// in.
std::string module_path(const char* file) {
  std::error_code failed;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* place : {".", "../lib/c3sim"}) {
    const std::filesystem::path path = folder / place / file;
    if (std::filesystem::exists(path, failed)) return path.string();
  }
  return {};
}

Module::Module(const char* file, int flags) {
  const std::string path = module_path(file);
  handle_ = dlopen(path.empty() ? file : path.c_str(), flags);
  if (handle_ == nullptr)
    throw std::system_error(ELIBACC, std::generic_category(),
                            fmt::format("{}, a part of c3sim: {}", file, dlerror()));
}

void* Module::symbol(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (found == nullptr) throw std::logic_error(fmt::format("the module has no {}", name));
  return found;
}

}}  // namespace c3::base
