#pragma once
/// Parts of the programs that are loaded when they are first needed, since the libraries behind them are many.

#include <string>

namespace c3 { inline namespace base {

/// Where the module \p file is: beside the program as it was built, or in lib/c3sim of an installation. Empty:
/// in neither place.
std::string module_path(const char* file);

/// A shared object that was built with the program (c3_add_module in cmake/C3Module.cmake). It stays loaded
/// until the process ends.
class Module {
 public:
  /// Loads \p file from its module_path, or else from where the program was built. \param flags of dlopen()
  /// \throws std::system_error with the loader's words where it or a library of its cannot be loaded
  Module(const char* file, int flags);

  /// \throws std::logic_error where the module has no function \p name
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  void* handle_;
};

}}  // namespace c3::base
