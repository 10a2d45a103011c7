#pragma once
/// Attributes of NCCL's topologies: how each is read, and which mean nothing to c3sim.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "configs/foreign/file_reading.hpp"
#include "configs/toml/config_error.hpp"
#include "importers/machines/machine.hpp"
#include "importers/machines/xml_file.hpp"

namespace c3 { inline namespace importers {

/// Reads attributes and collects mistakes and what is ignored.
class NcclAttributes {
 public:
  NcclAttributes(const XmlFile& xml, FileReading& reading) : xml_(xml), reading_(reading) {}

  /// Notes attributes of \p node that are not read.
  void note_ignored(const pugi::xml_node& node);
  /// An element that has no meaning here: a mistake with the nearest of \p allowed.
  void refuse(const pugi::xml_node& node, std::string_view allowed);

  /// Absent where the attribute is. A mistake where it is not a number within 0 to \p most; below that it is
  /// absent, too: -1 stands for nothing.
  std::optional<std::int64_t> number(const pugi::xml_node& node, std::string_view key, std::int64_t most);
  /// "16 GT/s" and "16" lanes.
  PcieLink pcie(const pugi::xml_node& node);
  /// The attribute in small letters, without "0x".
  static std::string id(const pugi::xml_node& node, std::string_view key);

  void fail(const pugi::xml_node& node, std::string_view key, std::string_view message);
  void ignore(const std::string& from, const std::string& why);
  /// \throws ConfigError with all mistakes, if there are any
  void finish() const;

 private:
  int generation(const pugi::xml_node& node);

  const XmlFile& xml_;
  FileReading& reading_;
  std::vector<ConfigError> mistakes_;
  std::set<std::string, std::less<>> seen_;  ///< keys that have been noted
  std::set<const void*> noted_;              ///< known attributes that have been
};

}}  // namespace c3::importers
