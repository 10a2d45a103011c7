#pragma once
/// What this c3sim was built from, so that a result file can say it.

#include <string>
#include <string_view>

namespace c3 { inline namespace results {

struct BuildInfo {
  std::string_view version;
  std::string_view
      git_commit;  ///< "unknown" when configured outside a git repository or before its first commit
  std::string_view compiler;
};

const BuildInfo& build_info() noexcept;

/// The version of the HDF5 library in use, e.g. "1.10.8".
std::string hdf5_version();

}}  // namespace c3::results
