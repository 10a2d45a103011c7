#pragma once

#include <string>

#include "results/hdf5_handle.hpp"

namespace c3 { inline namespace results {

/// Opens \p path for reading and notes it as an input. The file was verified before libhdf5 sees it: by its
/// seal, or by a child process that reads all of it (hdf5_probe.hpp). \throws IoError when it is damaged.
H5Id h5_open_file(const std::string& path);

}}  // namespace c3::results
