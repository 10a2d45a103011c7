#pragma once
/// The seal of an HDF5 file that c3sim wrote: its first 512 bytes (HDF5's user block, which readers skip) hold
/// the length and the SHA-256 of all that follows. HDF5's own checksums do not cover its B-trees and heaps, and
/// libhdf5 1.10 crashes or loops on damaged ones, so a file is verified before libhdf5 sees it. This costs one
/// more pass over the file, at the speed of SHA-256.

#include <cstdint>
#include <string>

#include "files/temporary_file.hpp"

namespace c3 { inline namespace results {

inline constexpr std::uint64_t kSealBytes = 512;  ///< the smallest user block that HDF5 allows

/// Seals what \p file holds, a complete HDF5 file with a user block of kSealBytes. \throws IoError
void seal_file(TemporaryFile& file);

enum class Seal {
  intact,
  none,  ///< an HDF5 file of an older c3sim, or one that another program has rewritten
};

/// \throws IoError when \p path is no HDF5 file, or when its seal does not fit its content: the file was
/// damaged or changed. The answer for an intact file is remembered while its size and time of change stay the
/// same.
Seal check_seal(const std::string& path);

}}  // namespace c3::results
