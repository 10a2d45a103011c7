#include "configs/sweeps/sweep_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <compare>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/nearest_name.hpp"
#include "configs/toml/nesting.hpp"
#include "configs/toml/quantity_text.hpp"

namespace c3 { inline namespace configs {

enum class FilterOp { value, name, add, subtract, multiply, divide, compare, negate, conjunction, disjunction };

/// A node of the condition's tree. A condition that holds is the number 1.
struct FilterTerm {
  FilterOp op = FilterOp::value;
  SweepCell value = {};       ///< a literal's value
  std::size_t name = 0;       ///< index of the swept value
  std::string relation = {};  ///< a comparison's sign
  std::shared_ptr<const FilterTerm> left = nullptr, right = nullptr;
};

namespace {

using Term = std::shared_ptr<const FilterTerm>;

/// What is wrong with a condition; SweepFilter says where it stands.
struct FilterError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

std::string describe(const SweepCell& cell) {
  if (cell.is_text()) return fmt::format("the text '{}'", std::get<std::string>(cell.value));
  return fmt::format("{}{}", cell.number(), cell.units == "1" ? ", without a unit" : " " + cell.units);
}

SweepCell truth(bool holds) { return {static_cast<std::int64_t>(holds), "truth"}; }

bool holds(const SweepCell& cell) {
  if (cell.units != "truth") throw FilterError(fmt::format("{} is no condition", describe(cell)));
  return cell.number() != 0;
}

void refuse_mixture(const SweepCell& left, const SweepCell& right, std::string_view how) {
  if (left.units != right.units)
    throw FilterError(fmt::format("{} and {} cannot be {}", describe(left), describe(right), how));
}

SweepCell compare(const SweepCell& left, const SweepCell& right, std::string_view relation) {
  refuse_mixture(left, right, "compared");
  const std::partial_ordering order =
      left.is_text()
          ? std::partial_ordering(std::get<std::string>(left.value) <=> std::get<std::string>(right.value))
          : left.number() <=> right.number();
  if (relation == "==") return truth(std::is_eq(order));
  if (relation == "!=") return truth(std::is_neq(order));
  if (relation == "<") return truth(std::is_lt(order));
  if (relation == "<=") return truth(std::is_lteq(order));
  if (relation == ">") return truth(std::is_gt(order));
  return truth(std::is_gteq(order));
}

SweepCell calculate(FilterOp op, const SweepCell& left, const SweepCell& right) {
  const bool numbers = !left.is_text() && !right.is_text() && left.units != "truth" && right.units != "truth";
  if (!numbers) throw FilterError(fmt::format("{} and {} are not numbers", describe(left), describe(right)));
  if (op == FilterOp::add || op == FilterOp::subtract) {
    refuse_mixture(left, right, "added");
    const double sign = op == FilterOp::add ? 1.0 : -1.0;
    return {left.number() + sign * right.number(), left.units};
  }
  if (op == FilterOp::multiply) {
    if (left.units != "1" && right.units != "1") refuse_mixture(left, {1.0, "1"}, "multiplied");
    return {left.number() * right.number(), left.units == "1" ? right.units : left.units};
  }
  if (right.units != "1") refuse_mixture(left, right, "divided");
  return {left.number() / right.number(), right.units == "1" ? left.units : "1"};
}

SweepCell evaluate(const FilterTerm& term, std::span<const SweepCell> cells) {
  switch (term.op) {
    case FilterOp::value:
      return term.value;
    case FilterOp::name:
      return cells[term.name];
    case FilterOp::negate:
      return truth(!holds(evaluate(*term.left, cells)));
    case FilterOp::conjunction:
      return truth(holds(evaluate(*term.left, cells)) && holds(evaluate(*term.right, cells)));
    case FilterOp::disjunction:
      return truth(holds(evaluate(*term.left, cells)) || holds(evaluate(*term.right, cells)));
    case FilterOp::compare:
      return compare(evaluate(*term.left, cells), evaluate(*term.right, cells), term.relation);
    default:
      return calculate(term.op, evaluate(*term.left, cells), evaluate(*term.right, cells));
  }
}

/// Parses by recursive descent, a function a level of precedence.
class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names) : rest_(text), names_(names) {}

  Term condition() {
    constexpr std::size_t kLongest = 4096;  // its tree is as deep as it has operators
    if (rest_.size() > kLongest) throw FilterError("is too long");
    Term term = disjunction();
    skip_blanks();
    if (!rest_.empty()) throw FilterError(fmt::format("nothing can follow before '{}'", rest_));
    return term;
  }

 private:
  static bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  }

  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
      rest_.remove_prefix(1);
  }

  std::string_view word() const {
    return rest_.substr(0,
                        static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_letter) - rest_.begin()));
  }

  bool take_word(std::string_view wanted) {
    skip_blanks();
    if (word() != wanted) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }

  bool take(std::string_view symbol) {
    skip_blanks();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }

  static Term binary(FilterOp op, Term left, Term right, std::string_view relation = "") {
    return std::make_shared<const FilterTerm>(FilterTerm{
        .op = op, .relation = std::string(relation), .left = std::move(left), .right = std::move(right)});
  }

  Term disjunction() {
    Term term = conjunction();
    while (take_word("or"))
      term = binary(FilterOp::disjunction, term, conjunction());
    return term;
  }

  Term conjunction() {
    Term term = negation();
    while (take_word("and"))
      term = binary(FilterOp::conjunction, term, negation());
    return term;
  }

  Term negation() {
    bool inverted = false;
    while (take_word("not"))
      inverted = !inverted;
    Term term = comparison();
    return inverted ? binary(FilterOp::negate, term, nullptr) : term;
  }

  Term comparison() {
    constexpr std::array<std::string_view, 6> kRelations = {"==", "!=", "<=", ">=", "<", ">"};
    Term term = sum();
    for (const std::string_view relation : kRelations) {
      if (take(relation)) return binary(FilterOp::compare, term, sum(), relation);
    }
    if (take("=")) throw FilterError("'=' is no comparison; did you mean '=='?");
    return term;
  }

  Term sum() {
    Term term = product();
    for (;;) {
      const bool adds = take("+");
      if (!adds && !take("-")) return term;
      term = binary(adds ? FilterOp::add : FilterOp::subtract, term, product());
    }
  }

  Term product() {
    Term term = operand();
    for (;;) {
      const bool multiplies = take("*");
      if (!multiplies && !take("/")) return term;
      term = binary(multiplies ? FilterOp::multiply : FilterOp::divide, term, operand());
    }
  }

  Term operand() {
    skip_blanks();
    if (rest_.empty()) throw FilterError("it ends where a name, a number or a text is missing");
    if (take("(")) return parenthesis();
    if (take("${")) return name(until('}'));
    const char first = rest_.front();
    if (first == '"' || first == '\'') {
      rest_.remove_prefix(1);
      return literal(cell_of(std::string(until(first))));
    }
    if (std::isdigit(static_cast<unsigned char>(first)) != 0) return number();
    const std::string_view found = word();
    if (found.empty())
      throw FilterError(fmt::format("a name, a number or a text is missing before '{}'", rest_));
    rest_.remove_prefix(found.size());
    return name(found);
  }

  Term parenthesis() {
    if (++depth_ > kDeepestBrackets) throw FilterError("nests too deeply");
    Term inner = disjunction();
    if (!take(")")) throw FilterError("a ')' is missing");
    --depth_;
    return inner;
  }

  std::string_view until(char end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) throw FilterError(fmt::format("a closing {} is missing", end));
    const std::string_view found = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return found;
  }

  static Term literal(SweepCell cell) {
    return std::make_shared<const FilterTerm>(FilterTerm{.op = FilterOp::value, .value = std::move(cell)});
  }

  Term name(std::string_view found) const {
    const auto at = std::ranges::find(names_, found);
    if (at == names_.end()) throw FilterError(unknown_name("swept key", found, names_));
    return std::make_shared<const FilterTerm>(
        FilterTerm{.op = FilterOp::name, .name = static_cast<std::size_t>(at - names_.begin())});
  }

  /// With its unit, where one follows.
  Term number() {
    double value = 0;
    const char* const begin = rest_.data();
    const auto [end, error] = std::from_chars(begin, begin + rest_.size(), value);
    if (error != std::errc()) throw FilterError("a number is out of range");
    const auto digits = static_cast<std::size_t>(end - begin);
    std::string_view behind = rest_.substr(digits);
    behind.remove_prefix(std::min(behind.find_first_not_of(' '), behind.size()));
    const auto is_of_unit = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '/'; };
    const std::string unit(behind.begin(), std::ranges::find_if_not(behind, is_of_unit));
    const auto quantity = find_quantity(fmt::format("{} {}", rest_.substr(0, digits), unit));
    rest_.remove_prefix(digits);
    if (!quantity) return literal({value, "1"});
    rest_ = behind.substr(unit.size());
    return literal({quantity->value, std::string(base_unit(quantity->dimension))});
  }

  std::string_view rest_;
  const std::vector<std::string>& names_;
  int depth_ = 0;
};

}  // namespace

SweepFilter::SweepFilter(const Node& text, const std::vector<std::string>& names, std::string key)
    : origin_(text.origin), text_(*text.text()), key_(std::move(key)) {
  try {
    root_ = Parser(text_, names).condition();
  } catch (const FilterError& error) {
    throw ConfigError(origin_, key_, fmt::format("'{}': {}", text_, error.what()));
  }
}

bool SweepFilter::operator()(std::span<const SweepCell> cells) const {
  try {
    return holds(evaluate(*root_, cells));
  } catch (const FilterError& error) {
    throw ConfigError(origin_, key_, fmt::format("'{}': {}", text_, error.what()));
  }
}

}}  // namespace c3::configs
