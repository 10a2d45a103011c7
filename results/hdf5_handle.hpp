#pragma once
/// HDF5's C API behind one move-only handle and a few functions. Only hdf5_*.cpp include hdf5.h; every failure
/// is an IoError with the file's path and the innermost reason HDF5 gives.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace c3 { inline namespace results {

/// Owns one HDF5 object: file, group, dataset, type, property list.
class H5Id {
 public:
  using Value = std::int64_t;    ///< HDF5's hid_t
  using Close = int (*)(Value);  ///< H5Fclose, H5Gclose, ...

  H5Id() = default;
  H5Id(Value value, Close closer) noexcept : value_(value), closer_(closer) {}
  H5Id(H5Id&& other) noexcept : value_(std::exchange(other.value_, -1)), closer_(other.closer_) {}
  H5Id& operator=(H5Id&& other) noexcept;
  ~H5Id();

  Value get() const noexcept { return value_; }
  /// Closes now, and says whether HDF5 could: closing a file is where a full disk may show.
  bool close() noexcept;

 private:
  Value value_ = -1;
  Close closer_ = nullptr;
};

/// \returns \p status unless it is negative. \throws IoError about \p path (or the file \p object lives in).
std::int64_t h5_check(std::int64_t status, std::string_view what, std::string_view path);
std::int64_t h5_check(std::int64_t status, std::string_view what, const H5Id& object);

/// \returns the path of the file \p object lives in, as messages name it.
std::string h5_path_of(const H5Id& object);

/// Creates or empties \p path, with room for a seal (file_seal.hpp). Format bounds are HDF5 1.8's, so that
/// every reader of the last decade can open it. HDF5's own lock is not taken: a TemporaryFile has one.
H5Id h5_create_file(const std::string& path);
/// Opens \p path without any verification: libhdf5 may crash on it.
H5Id h5_open_unverified(const std::string& path);
/// Pushes everything written so far to the operating system.
void h5_flush(const H5Id& file);

H5Id h5_create_group(const H5Id& parent, const std::string& name);  ///< remembers the order of its links
H5Id h5_open_group(const H5Id& parent, const std::string& name);
bool h5_is_group(const H5Id& parent, const std::string& name);
void h5_remove(const H5Id& parent, const std::string& name);  ///< removes the link \p name and what it names
bool h5_has(const H5Id& parent, const std::string& name);
/// \returns the names of the links of \p group, in order of creation.
std::vector<std::string> h5_links(const H5Id& group);

/// Bytes of \p text that are not UTF-8 are replaced.
void h5_set_attribute(const H5Id& object, const std::string& name, std::string_view text);
void h5_set_attribute(const H5Id& object, const std::string& name, std::uint64_t number);
bool h5_has_attribute(const H5Id& object, const std::string& name);
/// \returns the attribute as text, whatever its type. \throws IoError when there is none or it is not UTF-8.
std::string h5_attribute(const H5Id& object, const std::string& name);
/// \returns the attribute as a whole number. \throws IoError when there is none or it is not one.
std::uint64_t h5_number(const H5Id& object, const std::string& name);
/// \returns the names of the attributes of \p object, in order of creation.
std::vector<std::string> h5_attributes(const H5Id& object);

}}  // namespace c3::results
