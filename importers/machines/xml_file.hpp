#pragma once
/// A file in XML, and where its elements are in it.

#include <memory>
#include <string>
#include <string_view>

#include "configs/foreign/file_reading.hpp"
#include "configs/toml/config_error.hpp"

namespace pugi {
class xml_node;
class xml_document;
}  // namespace pugi

namespace c3 { inline namespace importers {

/// The name of the first element of \p text; empty where it does not begin as XML does.
std::string_view first_element(std::string_view text);

class XmlFile {
 public:
  /// \param doctype the only DOCTYPE that the file may have, without the brackets; empty: none.
  /// \throws ConfigError for text that is no XML or ends early, another DOCTYPE, more than one root or
  /// 20,000 elements, elements nested deeper than 64 or with more than 64 attributes
  XmlFile(const ForeignFile& file, std::string_view doctype);
  XmlFile(const XmlFile&) = delete;
  XmlFile& operator=(const XmlFile&) = delete;
  ~XmlFile();

  pugi::xml_node root() const;

  /// The place of the element; the file's begin where it has none.
  Origin place(const pugi::xml_node& node) const;
  Origin place(const pugi::xml_node& node, std::string_view attribute) const;
  Origin begin() const { return place_at(0); }

 private:
  Origin place_at(std::size_t offset) const;
  void check_top(std::string_view doctype) const;
  void check_elements() const;

  const ForeignFile& file_;
  std::shared_ptr<const std::string> name_;
  std::unique_ptr<pugi::xml_document> document_;
};

}}  // namespace c3::importers
