#include "importers/machines/xml_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <pugixml.hpp>

namespace c3 { inline namespace importers {
namespace {

constexpr int kDeepest = 64;
constexpr int kMostElements = 20'000;  // one machine has hundreds, or a few thousand where cores are listed
constexpr std::ptrdiff_t kMostTags = 3 * kMostElements;  // each may have two, and comments some
constexpr std::ptrdiff_t kMostAttributes = 64;
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// \p text after the first \p end in it; empty where there is none.
std::string_view behind(std::string_view text, std::string_view end) {
  const std::size_t at = text.find(end);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + end.size());
}

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == ':' || c == '.';
}

}  // namespace

std::string_view first_element(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.starts_with("<?"))
      text = behind(text, "?>");
    else if (text.starts_with("<!--"))
      text = behind(text, "-->");
    else if (text.starts_with("<!"))
      text = behind(text, ">");
    else
      break;
  }
  if (!text.starts_with('<')) return {};
  text.remove_prefix(1);
  const auto end = std::ranges::find_if_not(text, is_in_name);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

XmlFile::XmlFile(const ForeignFile& file, std::string_view doctype)
    : file_(file),
      name_(std::make_shared<const std::string>(file.name)),
      document_(std::make_unique<pugi::xml_document>()) {
  if (std::ranges::count(file.text, '<') > kMostTags)
    throw ConfigError(begin(), "XML", fmt::format("has more than {} tags", kMostTags));
  const pugi::xml_parse_result result = document_->load_buffer(
      file.text.data(), file.text.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!result) {
    const auto offset =
        std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)), file.text.size());
    throw ConfigError(place_at(offset), "XML",
                      fmt::format("cannot be read: {}; the file may end too early", result.description()));
  }
  check_top(doctype);
  check_elements();
}

XmlFile::~XmlFile() = default;

pugi::xml_node XmlFile::root() const { return document_->document_element(); }

Origin XmlFile::place(const pugi::xml_node& node) const {
  return place_at(static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0)));
}

Origin XmlFile::place(const pugi::xml_node& node, std::string_view attribute) const {
  const auto begin = static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
  const std::size_t end = std::min(file_.text.find('>', begin), file_.text.size());
  const std::size_t found =
      std::string_view(file_.text).substr(begin, end - begin).find(std::string(attribute) + "=");
  return place_at(found == std::string_view::npos ? begin : begin + found);
}

Origin XmlFile::place_at(std::size_t offset) const {
  const std::string_view before = std::string_view(file_.text).substr(0, offset);
  const std::size_t line_break = before.rfind('\n');
  const std::string_view line = line_break == std::string_view::npos ? before : before.substr(line_break + 1);
  const auto begins_letter = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return {name_, static_cast<std::uint32_t>(std::ranges::count(before, '\n') + 1),
          static_cast<std::uint32_t>(std::ranges::count_if(line, begins_letter) + 1)};
}

void XmlFile::check_top(std::string_view doctype) const {
  int roots = 0;
  for (const pugi::xml_node node : document_->children()) {
    if (node.type() == pugi::node_doctype && std::string_view(node.value()) != doctype) {
      throw ConfigError(place_at(std::min(file_.text.find("<!DOCTYPE"), file_.text.size())), "DOCTYPE",
                        "document types and entities are not read; delete the line");
    }
    if (node.type() != pugi::node_element) continue;
    if (++roots > 1) throw ConfigError(place(node), node.name(), "a second outermost element");
  }
  if (roots == 0) throw ConfigError(begin(), "XML", "there is no element");
}

void XmlFile::check_elements() const {
  int depth = 1;
  int elements = 0;
  pugi::xml_node node = root();
  while (depth > 0) {
    if (++elements > kMostElements)
      throw ConfigError(place(node), node.name(),
                        fmt::format("is one of more than {} elements", kMostElements));
    if (std::distance(node.attributes_begin(), node.attributes_end()) > kMostAttributes)
      throw ConfigError(place(node), node.name(), fmt::format("has more than {} attributes", kMostAttributes));
    if (node.first_child()) {
      node = node.first_child();
      if (++depth > kDeepest)
        throw ConfigError(place(node), node.name(), fmt::format("is nested deeper than {} levels", kDeepest));
      continue;
    }
    while (depth > 0 && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    if (depth > 0) node = node.next_sibling();
  }
}

}}  // namespace c3::importers
