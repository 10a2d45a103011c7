/// Any bytes as a file that somebody brings: recognised, and read or refused with a ConfigError. Readers of
/// recipes get what no format recognises, too.

#include <cstddef>
#include <cstdint>
#include <string>

#include "configs/toml/config_error.hpp"
#include "importers/user_files/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const c3::ForeignFile file{"input", {reinterpret_cast<const char*>(data), size}};
  const c3::FileFormat* const found = c3::format_of(file.text);
  for (const c3::FileFormat& format : c3::file_formats()) {
    if (format.read == nullptr || (&format != found && format.role != c3::FileRole::recipe)) continue;
    try {
      format.read(file);
    } catch (const c3::ConfigError&) {
    }
  }
  return 0;
}
