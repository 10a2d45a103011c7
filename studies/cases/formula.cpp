#include "studies/cases/formula.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <stdexcept>

#include "studies/cases/spread.hpp"

namespace c3 { inline namespace studies {
namespace {

constexpr const char* kNameLetters = "0123456789_.:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// One for all formulas, since it takes long to make. Without variables.
mu::Parser& parser_for(const std::string& text) {
  thread_local mu::Parser parser;
  parser.ClearVar();
  parser.DefineNameChars(kNameLetters);
  parser.SetExpr(text);
  return parser;
}

/// \throws std::invalid_argument
template <class Act>
auto checked(const std::string& text, Act act) {
  try {
    return act();
  } catch (const mu::Parser::exception_type& error) {
    throw std::invalid_argument(fmt::format("'{}': {}", text, error.GetMsg()));
  }
}

}  // namespace

std::string with_texts_compared(std::string text) {
  if (text.find('\'') == std::string::npos) return text;
  static const std::regex kComparison(R"('([^']*)'\s*([=!])=\s*'([^']*)')");
  for (std::smatch found; std::regex_search(text, found, kComparison);) {
    const bool is_true = (found[1] == found[3]) == (found[2] == "=");
    text = found.prefix().str() + (is_true ? "1" : "0") + found.suffix().str();
  }
  return text;
}

Formula::Formula(const std::string& text) : text_(spread(with_texts_compared(text))) {
  static const std::regex kInBrackets(R"(\[([^\]]*)\](:[\w.]+))");
  for (std::smatch found;
       text_.find('[') != std::string::npos && std::regex_search(text_, found, kInBrackets);) {
    const std::string stands_for_it = fmt::format("_{}", names_.size());
    names_.emplace(stands_for_it, found[1].str() + found[2].str());
    text_ = found.prefix().str() + stands_for_it + found.suffix().str();
  }
  checked(text_, [&] {
    for (const auto& [name, unused] : parser_for(text_).GetUsedVar())
      names_.emplace(name, name);
  });
}

std::set<std::string> Formula::names() const {
  std::set<std::string> names;
  for (const auto& [stands_for_it, name] : names_)
    names.insert(name);
  return names;
}

double Formula::value(const std::function<double(const std::string& name)>& number) const {
  return checked(text_, [&] {
    std::map<std::string, double> numbers;
    for (const auto& [stands_for_it, name] : names_)
      numbers.emplace(stands_for_it, number(name));  // which may ask for the value of another formula
    mu::Parser& parser = parser_for(text_);
    for (auto& [stands_for_it, value] : numbers)
      parser.DefineVar(stands_for_it, &value);
    return parser.Eval();
  });
}

std::string as_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
}

}}  // namespace c3::studies
