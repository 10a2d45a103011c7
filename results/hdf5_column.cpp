#include "results/hdf5_column.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "files/io_error.hpp"
#include "results/utf8.hpp"

namespace c3 { inline namespace results {
namespace {

constexpr unsigned kDeflateLevel = 1;  // half as fast again as 4 on shuffled columns, for 5 % more bytes

template <class E>
struct EnumMember {
  E value;
  const char* name;
};

constexpr std::array kActivityKinds{
    EnumMember<ActivityKind>{ActivityKind::kernel, "kernel"},
    EnumMember<ActivityKind>{ActivityKind::cohort, "cohort"},
    EnumMember<ActivityKind>{ActivityKind::collective, "collective"},
    EnumMember<ActivityKind>{ActivityKind::channel, "channel"},
    EnumMember<ActivityKind>{ActivityKind::transfer, "transfer"},
    EnumMember<ActivityKind>{ActivityKind::command, "command"},
    EnumMember<ActivityKind>{ActivityKind::wait, "wait"},
    EnumMember<ActivityKind>{ActivityKind::range, "range"},
};
constexpr std::array kDependencyKinds{
    EnumMember<DependencyKind>{DependencyKind::stream_order, "stream_order"},
    EnumMember<DependencyKind>{DependencyKind::event, "event"},
    EnumMember<DependencyKind>{DependencyKind::slot, "slot"},
    EnumMember<DependencyKind>{DependencyKind::data, "data"},
    EnumMember<DependencyKind>{DependencyKind::launch, "launch"},
};

template <class Members>
H5Id enum_type(const Members& members) {
  H5Id type(H5Tenum_create(H5T_NATIVE_UINT8), H5Tclose);
  for (const auto& member : members)
    H5Tenum_insert(type.get(), member.name, &member.value);
  return type;
}

template <class T>
H5Id element_type() {
  if constexpr (std::is_same_v<T, ActivityKind>) return enum_type(kActivityKinds);
  if constexpr (std::is_same_v<T, DependencyKind>) return enum_type(kDependencyKinds);
  if constexpr (std::is_same_v<T, NameIndex>) return {H5Tcopy(H5T_NATIVE_UINT32), H5Tclose};
  if constexpr (std::is_same_v<T, std::int32_t>) return {H5Tcopy(H5T_NATIVE_INT32), H5Tclose};
  if constexpr (std::is_same_v<T, std::int64_t>) return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
  if constexpr (std::is_same_v<T, double>) return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose};
}

H5Id text_type() {
  H5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

/// An empty, growing dataset. Texts live in HDF5's heap, and HDF5 refuses filters for them: only the file's
/// seal covers them.
H5Id create_dataset(const H5Id& group, const ColumnSpec& spec, const H5Id& type, std::size_t chunk_rows) {
  const hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = std::clamp<hsize_t>(chunk_rows, 1, kChunkRows);
  const H5Id space(H5Screate_simple(1, &none, &unlimited), H5Sclose);
  const H5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation.get(), 1, &chunk);
  H5Pset_obj_track_times(creation.get(), false);
  const bool is_text = H5Tis_variable_str(type.get()) > 0;
  if (spec.is_deflated && !is_text) {
    H5Pset_shuffle(creation.get());
    H5Pset_deflate(creation.get(), kDeflateLevel);
  }
  if (!is_text) H5Pset_fletcher32(creation.get());  // last: of the bytes as they are stored
  H5Id dataset(h5_check(H5Dcreate2(group.get(), spec.name.c_str(), type.get(), space.get(), H5P_DEFAULT,
                                   creation.get(), H5P_DEFAULT),
                        "create column '" + spec.name + "'", group),
               H5Dclose);
  h5_set_attribute(dataset, "units", spec.units);
  h5_set_attribute(dataset, "long_name", spec.long_name);
  if (!spec.indexes.empty()) h5_set_attribute(dataset, "indexes", spec.indexes);
  return dataset;
}

void append(const H5Id& dataset, const H5Id& type, hsize_t written, hsize_t rows, const void* values) {
  if (rows == 0) return;
  const hsize_t total = written + rows;
  h5_check(H5Dset_extent(dataset.get(), &total), "extend a column", dataset);
  const H5Id file_space(H5Dget_space(dataset.get()), H5Sclose);
  const H5Id memory_space(H5Screate_simple(1, &rows, nullptr), H5Sclose);
  H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &written, nullptr, &rows, nullptr);
  h5_check(H5Dwrite(dataset.get(), type.get(), memory_space.get(), file_space.get(), H5P_DEFAULT, values),
           "write", dataset);
}

H5Id open_dataset(const H5Id& group, const std::string& name) {
  return {h5_check(H5Dopen2(group.get(), name.c_str(), H5P_DEFAULT), "open column '" + name + "'", group),
          H5Dclose};
}

[[noreturn]] void throw_damaged(const H5Id& dataset, std::string_view reason) {
  throw IoError(h5_path_of(dataset), "read", fmt::format("a column is damaged: {}", reason));
}

hsize_t length_of(const H5Id& dataset) {
  const H5Id space(H5Dget_space(dataset.get()), H5Sclose);
  if (H5Sget_simple_extent_ndims(space.get()) != 1) throw_damaged(dataset, "it must have one dimension");
  hsize_t rows = 0;
  H5Sget_simple_extent_dims(space.get(), &rows, nullptr);
  return rows;
}

template <class T>
std::vector<T> read_numbers(const H5Id& dataset, hid_t type, RowRange rows) {
  const hsize_t length = length_of(dataset), first = std::min<hsize_t>(rows.first, length);
  const hsize_t count = std::min<hsize_t>(rows.count, length - first);
  std::vector<T> values(count);
  if (count == 0) return values;
  const H5Id file_space(H5Dget_space(dataset.get()), H5Sclose);
  const H5Id memory_space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr);
  h5_check(H5Dread(dataset.get(), type, memory_space.get(), file_space.get(), H5P_DEFAULT, values.data()),
           "read", dataset);
  return values;
}

std::vector<std::string> read_texts(const H5Id& dataset, RowRange rows) {
  const auto type = text_type();
  auto texts = read_numbers<char*>(dataset, type.get(), rows);
  std::vector<std::string> values;
  values.reserve(texts.size());
  for (const char* text : texts)
    values.emplace_back(text != nullptr ? text : "");
  const hsize_t count = texts.size();
  const H5Id space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, texts.data());
  if (!std::ranges::all_of(values, is_utf8)) throw_damaged(dataset, "it holds a text that is not UTF-8");
  return values;
}

std::vector<std::string> read_enum(const H5Id& dataset, const H5Id& type, RowRange rows) {
  constexpr std::size_t kLongestName = 64;
  if (const std::size_t size = H5Tget_size(type.get()); size != 1)
    throw_damaged(dataset, fmt::format("its enumeration has {} bytes a value, and must have one", size));
  std::array<std::string, 256> names;
  for (unsigned i = 0; i < names.size(); ++i) {
    const auto value = static_cast<std::uint8_t>(i);
    std::array<char, kLongestName> name{};
    if (H5Tenum_nameof(type.get(), &value, name.data(), name.size()) >= 0) names.at(i) = name.data();
  }
  std::vector<std::string> values;
  for (const auto value : read_numbers<std::uint8_t>(dataset, type.get(), rows))
    values.push_back(names.at(value));
  return values;
}

}  // namespace

// "ps" and "B/s" become a suffix; "1", "1/s", "see unit" and the flop of "..flops" do not.
std::string csv_heading(const ColumnSpec& spec) {
  const bool is_word = spec.units.find(' ') == std::string::npos;
  if (spec.units.starts_with('1') || !is_word || spec.name.ends_with(spec.units + "s")) return spec.name;
  std::string suffix = spec.units;
  if (const auto slash = suffix.find('/'); slash != std::string::npos) suffix.replace(slash, 1, "_per_");
  return spec.name + "_" + suffix;
}

template <class T>
void Column<T>::flush() {
  const auto type = element_type<T>();
  if (dataset_.get() < 0) dataset_ = create_dataset(group_, spec_, type, buffer_.size());
  append(dataset_, type, rows_, buffer_.size(), buffer_.data());
  rows_ += buffer_.size();
  buffer_.clear();
}

template class Column<ActivityKind>;
template class Column<DependencyKind>;
template class Column<NameIndex>;
template class Column<std::int32_t>;
template class Column<std::int64_t>;
template class Column<double>;

void write_texts(const H5Id& group, const ColumnSpec& spec, std::span<const std::string> texts) {
  std::vector<const char*> pointers;
  std::vector<std::string> replaced;
  replaced.reserve(texts.size());  // pointers stay valid
  for (const auto& text : texts)
    pointers.push_back(is_utf8(text) ? text.c_str() : replaced.emplace_back(to_utf8(text)).c_str());
  const auto type = text_type();
  append(create_dataset(group, spec, type, pointers.size()), type, 0, pointers.size(), pointers.data());
}

ColumnData read_column(const H5Id& group, const std::string& name, RowRange rows) {
  const auto dataset = open_dataset(group, name);
  ColumnData column{.spec = {name, h5_attribute(dataset, "units"), h5_attribute(dataset, "long_name")},
                    .values = {}};
  if (h5_has_attribute(dataset, "indexes")) column.spec.indexes = h5_attribute(dataset, "indexes");
  const H5Id type(H5Dget_type(dataset.get()), H5Tclose);
  switch (H5Tget_class(type.get())) {
    case H5T_STRING:
      column.values = read_texts(dataset, rows);
      break;
    case H5T_ENUM:
      column.values = read_enum(dataset, type, rows);
      break;
    case H5T_FLOAT:
      column.values = read_numbers<double>(dataset, H5T_NATIVE_DOUBLE, rows);
      break;
    default:
      column.values = read_numbers<std::int64_t>(dataset, H5T_NATIVE_INT64, rows);
      break;
  }
  return column;
}

void check_stored(const H5Id& group, const std::string& name) {
  const H5Id dataset = open_dataset(group, name);
  const hsize_t rows = length_of(dataset);
  const H5Id creation(H5Dget_create_plist(dataset.get()), H5Pclose);
  // Another program wrote it: all rows are in one piece.
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return;
  hsize_t chunk = 0, chunks = 0;
  if (H5Pget_chunk(creation.get(), 1, &chunk) != 1 || chunk == 0)
    throw_damaged(dataset, "its chunks have no size");
  const H5Id space(H5Dget_space(dataset.get()), H5Sclose);
  h5_check(H5Dget_num_chunks(dataset.get(), space.get(), &chunks), "count the chunks", dataset);
  if (chunks != rows / chunk + (rows % chunk == 0 ? 0 : 1))
    throw_damaged(dataset, "some of its rows are missing");
}

std::uint64_t column_length(const H5Id& group, const std::string& name) {
  return length_of(open_dataset(group, name));
}

}}  // namespace c3::results
