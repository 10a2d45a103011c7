#include "results/hdf5_handle.hpp"

#include <hdf5.h>

#include <charconv>
#include <system_error>
#include <type_traits>

#include "files/io_error.hpp"
#include "files/temporary_file.hpp"
#include "results/build_info.hpp"
#include "results/file_seal.hpp"
#include "results/utf8.hpp"

#include <fmt/format.h>

namespace c3 { inline namespace results {
namespace {

static_assert(std::is_same_v<hid_t, H5Id::Value> && std::is_same_v<herr_t, int>);

/// Half the children of a node in a dataset's index of chunks. HDF5's 32 costs 2 KB a column, and most have one
/// chunk.
constexpr unsigned kChunkIndexFanout = 2;

/// HDF5 prints its stack of errors by default; we put the reason in the exception instead. A process that dies
/// because the disk is full must not fail a second time when HDF5 tidies up at exit: we close what we open
/// ourselves.
void prepare_library() {
  static const bool kPrepared = [] {
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return true;
  }();
  static_cast<void>(kPrepared);
}

/// The drivers bury the operating system's words in a longer line: "..., error message = 'No space left', ...".
std::string system_reason(std::string_view description) {
  constexpr std::string_view kMark = "error message = '";
  const auto mark = description.find(kMark);
  if (mark == std::string_view::npos) return std::string(description);
  const auto text = description.substr(mark + kMark.size());
  return std::string(text.substr(0, text.find('\'')));
}

/// Innermost entry of the error stack: what really happened. Any later call of HDF5 clears it.
std::string innermost_reason() {
  std::string reason = "unknown HDF5 error";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
        if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = system_reason(error->desc);
        return 0;
      },
      &reason);
  return reason;
}

H5Id utf8_type() {
  H5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

void write_scalar_attribute(const H5Id& object, const std::string& name, hid_t type, const void* value) {
  const H5Id space(H5Screate(H5S_SCALAR), H5Sclose);
  const auto what = "write attribute '" + name + "'";
  const H5Id attribute(
      h5_check(H5Acreate2(object.get(), name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), what,
               object),
      H5Aclose);
  h5_check(H5Awrite(attribute.get(), type, value), what, object);
}

herr_t collect_link(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

herr_t collect_attribute(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

std::string read_text(const H5Id& attribute, const H5Id& object, const std::string& what) {
  const auto type = utf8_type();
  char* text = nullptr;
  h5_check(H5Aread(attribute.get(), type.get(), &text), what, object);
  std::string result = text != nullptr ? text : "";
  H5free_memory(text);
  if (!is_utf8(result)) throw IoError(h5_path_of(object), what, "it is not UTF-8");
  return result;
}

}  // namespace

H5Id& H5Id::operator=(H5Id&& other) noexcept {
  std::swap(value_, other.value_);
  std::swap(closer_, other.closer_);
  return *this;
}

H5Id::~H5Id() { close(); }

bool H5Id::close() noexcept { return value_ < 0 || closer_(std::exchange(value_, -1)) >= 0; }

std::int64_t h5_check(std::int64_t status, std::string_view what, std::string_view path) {
  if (status < 0) throw IoError(final_name(std::string(path)), what, innermost_reason());
  return status;
}

std::int64_t h5_check(std::int64_t status, std::string_view what, const H5Id& object) {
  if (status >= 0) return status;
  const auto reason = innermost_reason();
  throw IoError(h5_path_of(object), what, reason);
}

std::string h5_path_of(const H5Id& object) {
  const auto length = H5Fget_name(object.get(), nullptr, 0);
  if (length <= 0) return "HDF5 file";
  std::string path(static_cast<std::size_t>(length), '\0');
  H5Fget_name(object.get(), path.data(), path.size() + 1);
  return final_name(path);
}

H5Id h5_create_file(const std::string& path) {
  prepare_library();
  const H5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18);
  H5Pset_file_locking(access.get(), false, true);
  const H5Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_attr_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_link_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(creation.get(), false);
  H5Pset_istore_k(creation.get(), kChunkIndexFanout);
  H5Pset_userblock(creation.get(), kSealBytes);
  return {h5_check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), "create", path),
          H5Fclose};
}

H5Id h5_open_unverified(const std::string& path) {
  prepare_library();
  return {h5_check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open as HDF5", path), H5Fclose};
}

void h5_flush(const H5Id& file) { h5_check(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "write", file); }

H5Id h5_create_group(const H5Id& parent, const std::string& name) {
  const H5Id creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_link_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_attr_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(creation.get(), false);
  return {h5_check(H5Gcreate2(parent.get(), name.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                   "create group '" + name + "'", parent),
          H5Gclose};
}

H5Id h5_open_group(const H5Id& parent, const std::string& name) {
  return {h5_check(H5Gopen2(parent.get(), name.c_str(), H5P_DEFAULT), "open group '" + name + "'", parent),
          H5Gclose};
}

bool h5_is_group(const H5Id& parent, const std::string& name) {
  const H5Id object(h5_check(H5Oopen(parent.get(), name.c_str(), H5P_DEFAULT), "open '" + name + "'", parent),
                    H5Oclose);
  return H5Iget_type(object.get()) == H5I_GROUP;
}

void h5_remove(const H5Id& parent, const std::string& name) {
  h5_check(H5Ldelete(parent.get(), name.c_str(), H5P_DEFAULT), "remove '" + name + "'", parent);
}

bool h5_has(const H5Id& parent, const std::string& name) {
  return h5_check(H5Lexists(parent.get(), name.c_str(), H5P_DEFAULT), "look for '" + name + "'", parent) > 0;
}

std::vector<std::string> h5_links(const H5Id& group) {
  std::vector<std::string> names;
  h5_check(H5Literate(group.get(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect_link, &names), "list",
           group);
  return names;
}

void h5_set_attribute(const H5Id& object, const std::string& name, std::string_view text) {
  const std::string terminated = to_utf8(text);
  const char* value = terminated.c_str();
  write_scalar_attribute(object, name, utf8_type().get(), &value);
}

void h5_set_attribute(const H5Id& object, const std::string& name, std::uint64_t number) {
  write_scalar_attribute(object, name, H5T_NATIVE_UINT64, &number);
}

bool h5_has_attribute(const H5Id& object, const std::string& name) {
  return h5_check(H5Aexists(object.get(), name.c_str()), "look for attribute '" + name + "'", object) > 0;
}

std::string h5_attribute(const H5Id& object, const std::string& name) {
  const auto what = "read attribute '" + name + "'";
  const H5Id attribute(h5_check(H5Aopen(object.get(), name.c_str(), H5P_DEFAULT), what, object), H5Aclose);
  const H5Id type(H5Aget_type(attribute.get()), H5Tclose);
  const H5Id space(H5Aget_space(attribute.get()), H5Sclose);
  if (H5Sget_simple_extent_npoints(space.get()) != 1)
    throw IoError(h5_path_of(object), what, "it is not a single value");
  if (H5Tget_class(type.get()) == H5T_STRING) return read_text(attribute, object, what);
  std::uint64_t number = 0;
  h5_check(H5Aread(attribute.get(), H5T_NATIVE_UINT64, &number), what, object);
  return fmt::format("{}", number);
}

std::uint64_t h5_number(const H5Id& object, const std::string& name) {
  const std::string text = h5_attribute(object, name);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw IoError(h5_path_of(object), "read attribute '" + name + "'", "it is not a number");
}

std::vector<std::string> h5_attributes(const H5Id& object) {
  std::vector<std::string> names;
  h5_check(H5Aiterate2(object.get(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect_attribute, &names),
           "list", object);
  return names;
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}}  // namespace c3::results
