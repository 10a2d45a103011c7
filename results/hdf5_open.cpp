#include "results/hdf5_open.hpp"

#include "files/input_files.hpp"
#include "results/file_seal.hpp"
#include "results/hdf5_probe.hpp"

namespace c3 { inline namespace results {

H5Id h5_open_file(const std::string& path) {
  note_input(path);
  if (check_seal(path) == Seal::none) probe_hdf5_file(path);
  return h5_open_unverified(path);
}

}}  // namespace c3::results
