#include "configs/toml/toml_text.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "configs/toml/nesting.hpp"

namespace c3 { inline namespace configs {
namespace {

/// Turns toml++'s nodes, which are sorted by key, into ours, which are in file order.
class Converter {
 public:
  explicit Converter(const std::string& file) : file_(std::make_shared<const std::string>(file)) {}

  const std::shared_ptr<const std::string>& file() const { return file_; }

  Origin origin(const toml::source_region& region) const {
    return {file_, std::max(region.begin.line, 1U), std::max(region.begin.column, 1U)};
  }

  Node node(const toml::node& from, std::string_view key) const {
    Node to;
    to.origin = origin(from.source());
    if (const auto* table = from.as_table()) {
      to.value = members(*table);
    } else if (const auto* array = from.as_array()) {
      Array elements;
      for (const toml::node& element : *array)
        elements.push_back(node(element, key));
      to.value = std::move(elements);
    } else if (const auto text = from.value_exact<std::string>()) {
      if (text->find('\0') != std::string::npos)
        throw ConfigError(to.origin, key, "texts must not contain U+0000, which ends them elsewhere");
      to.value = *text;
    } else if (const auto integer = from.value_exact<std::int64_t>()) {
      to.value = *integer;
    } else if (const auto number = from.value_exact<double>()) {
      if (!std::isfinite(*number)) throw ConfigError(to.origin, key, "numbers must be finite");
      to.value = *number;
    } else if (const auto flag = from.value_exact<bool>()) {
      to.value = *flag;
    } else {
      throw ConfigError(to.origin, key, "dates and times have no meaning here; quote it if it is a text");
    }
    return to;
  }

 private:
  Table members(const toml::table& from) const {
    std::vector<Member> members;
    for (const auto& [key, value] : from) {
      members.push_back({std::string(key.str()), origin(key.source()), node(value, key.str())});
    }
    std::ranges::stable_sort(
        members, {}, [](const Member& member) { return std::pair(member.origin.line, member.origin.column); });
    Table table;
    for (Member& member : members)
      table.put(member.key, member.origin, std::move(member.value));
    return table;
  }

  std::shared_ptr<const std::string> file_;
};

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string key_text(std::string_view key) {
  const auto is_bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !key.empty() && std::ranges::all_of(key, is_bare) ? std::string(key) : in_quotes(key);
}

struct InlineWriter {
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t integer) const { return fmt::format("{}", integer); }
  std::string operator()(double number) const {
    const std::string digits = fmt::format("{}", number);  // the shortest text that reads back the same
    return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
  }
  std::string operator()(const std::string& text) const { return in_quotes(text); }
  std::string operator()(const Array& array) const {
    std::string out;
    for (const Node& element : array)
      out += (out.empty() ? "" : ", ") + write_value(element);
    return "[" + out + "]";
  }
  std::string operator()(const Table& table) const {
    std::string out;
    for (const Member& member : table.members()) {
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", key_text(member.key), write_value(member.value));
    }
    return out.empty() ? "{}" : "{ " + out + " }";
  }
};

bool is_section(const Node& node) { return node.table() != nullptr && !is_sourced_value(node); }

bool is_section_list(const Node& node) {
  return node.array() != nullptr && !node.array()->empty() && std::ranges::all_of(*node.array(), is_section);
}

/// "; PATH PLACE" for everything inside \p node that comes from another file than \p around.
std::string foreign_origins(const Node& node, const std::string& path, const Origin& around) {
  std::string out;
  const auto add = [&](const Node& inner, const std::string& inner_path) {
    const bool is_foreign = *inner.origin.file != *around.file;
    if (is_foreign) out += fmt::format("; {} {}", inner_path, place_of(inner.origin));
    out += foreign_origins(inner, inner_path, is_foreign ? inner.origin : around);
  };
  if (const Array* array = node.array()) {
    for (std::size_t i = 0; i < array->size(); ++i)
      add((*array)[i], fmt::format("{}[{}]", path, i));
  } else if (const Table* table = node.table()) {
    for (const Member& member : table->members())
      add(member.value, path.empty() ? key_text(member.key) : fmt::format("{}.{}", path, key_text(member.key)));
  }
  return out;
}

class TomlWriter {
 public:
  explicit TomlWriter(Comments comments) : comments_(comments) {}

  std::string document(const Table& table) const {
    std::string head, body;
    for (const Member& member : table.members()) {
      if (is_section(member.value)) {
        body += section(*member.value.table(), key_text(member.key));
      } else if (is_section_list(member.value)) {
        for (const Node& element : *member.value.array()) {
          body += fmt::format("\n[[{}]]\n", key_text(member.key));
          for (const Member& inner : element.table()->members())
            body += line(inner);
        }
      } else {
        head += line(member);
      }
    }
    return head + body;
  }

 private:
  std::string line(const Member& member) const {
    const Node& value = member.value;
    const std::string text = fmt::format("{} = {}", key_text(member.key), write_value(value));
    if (comments_ == Comments::none) return text + "\n";
    return fmt::format("{}  # {}{}\n", text, place_of(value.origin), foreign_origins(value, "", value.origin));
  }

  std::string section(const Table& table, const std::string& path) const {
    const bool only_sections = std::ranges::all_of(table.members(), is_section, &Member::value);
    std::string out;
    if (!only_sections || table.empty()) {
      out += fmt::format("\n[{}]\n", path);
      for (const Member& member : table.members()) {
        if (!is_section(member.value)) out += line(member);
      }
    }
    for (const Member& member : table.members()) {
      if (is_section(member.value)) out += section(*member.value.table(), path + "." + key_text(member.key));
    }
    return out;
  }

  Comments comments_;
};

}  // namespace

std::string write_value(const Node& value) { return std::visit(InlineWriter{}, value.value); }

Node parse_toml(std::string_view text, const std::string& file) {
  const Converter converter(file);
  refuse_deep_nesting(text, converter.file());
  try {
    return converter.node(toml::parse(text, std::string_view(file)), "document");
  } catch (const toml::parse_error& error) {
    throw ConfigError(converter.origin(error.source()), "syntax", error.description());
  }
}

std::string write_toml(const Table& table, Comments comments) { return TomlWriter(comments).document(table); }

}}  // namespace c3::configs
