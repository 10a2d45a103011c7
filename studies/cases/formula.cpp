#include "studies/cases/formula.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <map>
#include <stdexcept>

namespace c3 { inline namespace studies {
namespace {

constexpr const char* kNameLetters = "0123456789_.:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

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

Formula::Formula(const std::string& text) : text_(text) {
  checked(text_, [&] {
    mu::Parser parser;
    parser.DefineNameChars(kNameLetters);
    parser.SetExpr(text_);
    for (const auto& [name, unused] : parser.GetUsedVar())
      names_.insert(name);
  });
}

double Formula::value(const std::function<double(const std::string& name)>& number) const {
  return checked(text_, [&] {
    std::map<std::string, double> numbers;
    mu::Parser parser;
    parser.DefineNameChars(kNameLetters);
    for (const std::string& name : names_)
      parser.DefineVar(name, &(numbers[name] = number(name)));
    parser.SetExpr(text_);
    return parser.Eval();
  });
}

}}  // namespace c3::studies
