#pragma once
/// Reads an HDF5 file without a seal in a child process first. libhdf5 1.10 may crash, loop or take gigabytes
/// on a damaged file; then it is the child that ends.

#include <string>

namespace c3 { inline namespace results {

/// Reads all of \p path in a child process with limits of processor time (2 s and 1 s for each 10 MB) and
/// memory (256 MiB and 16 times the file's size more than now). Call it with no other thread running. \throws
/// IoError when the child finds damage or does not come to its end.
void probe_hdf5_file(const std::string& path);

}}  // namespace c3::results
