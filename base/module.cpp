#include "base/module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace c3 { inline namespace base {

Module::Module(const char* file, int flags) : handle_(dlopen(file, flags)) {
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
