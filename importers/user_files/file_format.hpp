#pragma once
/// What a format of files is.

#include <string_view>

#include "base/enum_names.hpp"
#include "configs/foreign/file_reading.hpp"

namespace c3 { inline namespace importers {

/// What a file describes, and so which option takes it.
enum class FileRole {
  model,    ///< layers and their sizes
  recipe,   ///< how a framework trains one
  machine,  ///< GPUs, what joins them, and the fabric of a cluster
  log,      ///< what was measured
};
constexpr auto enum_names(FileRole) {
  return std::to_array<EnumName<FileRole>>({{"model", FileRole::model},
                                            {"recipe", FileRole::recipe},
                                            {"machine", FileRole::machine},
                                            {"log", FileRole::log}});
}

struct FileFormat {
  std::string_view name;  ///< "hugging-face"
  std::string_view what;  ///< with its article: "a configuration of Hugging Face"
  FileRole role;
  /// Whether a text is of this format. Looks at content alone, never throws, and takes time in proportion to
  /// the text at most. When several formats recognise a text, pieces of two files for instance, the first in
  /// the table counts.
  bool (*recognises)(std::string_view text);
  /// nullptr where c3sim new does not read it. \throws ConfigError with the place of what is wrong
  FileReading (*read)(const ForeignFile& file);
};

}}  // namespace c3::importers
