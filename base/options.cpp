#include "base/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace c3 { inline namespace base {
namespace {

/// CLI11 2.1 ends a line between a footer that is made and one that was given, be there none.
std::string with_one_end(std::string help) {
  if (help.ends_with("\n\n")) help.pop_back();
  return help;
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::one_of(std::vector<std::string> values) {
  values_ = std::move(values);
  option_->check(CLI::IsMember(values_));
  return *this;
}

Option& Option::offer(std::vector<std::string> values) {
  values_ = std::move(values);
  return *this;
}

Option& Option::in_range(int low, int high) {
  option_->check(CLI::Range(low, high));
  return *this;
}

Option& Option::in_range(double low, double high) {
  option_->check(CLI::Range(low, high));
  return *this;
}

Option& Option::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::comma_separated() {
  option_->delimiter(',');
  return *this;
}

Option& Option::one_word() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::one_word_once() {
  option_->expected(1);
  return *this;
}

Option& Option::repeated() {
  option_->take_all()->expected(1);
  return *this;
}

std::vector<std::string> Option::names() const {
  std::vector<std::string> names;
  for (const std::string& name : option_->get_lnames())
    names.push_back("--" + name);
  for (const std::string& name : option_->get_snames())
    names.push_back("-" + name);
  return names;
}

std::string Option::type_name() const { return option_->get_type_name(); }

bool Option::takes_value() const { return option_->get_items_expected_max() > 0; }

bool Option::has_empty_value() const { return std::ranges::any_of(option_->results(), &std::string::empty); }

Command::Command(CLI::App* app) : app_(app) {
  // The library adds --help to every command.
  for (CLI::Option* option : app_->get_options([](const CLI::Option*) { return true; }))
    keep(option);
}

Command& Command::add_command(const std::string& name, const std::string& description) {
  return commands_.emplace_back(app_->add_subcommand(name, description));
}

void Command::require_command() { app_->require_subcommand(1); }

template <OptionValue T>
Option& Command::add_option(const std::string& names, T& value, const std::string& description) {
  return keep(app_->add_option(names, value, description));
}

template Option& Command::add_option(const std::string&, std::string&, const std::string&);
template Option& Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option& Command::add_option(const std::string&, std::filesystem::path&, const std::string&);
template Option& Command::add_option(const std::string&, int&, const std::string&);
template Option& Command::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option& Command::add_option(const std::string&, double&, const std::string&);
template Option& Command::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option& Command::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);

Option& Command::add_flag(const std::string& names, bool& value, const std::string& description) {
  return keep(app_->add_flag(names, value, description));
}

Option& Command::add_flag(const std::string& names, std::function<void()> given,
                          const std::string& description) {
  return keep(app_->add_flag_callback(names, std::move(given), description));
}

Option& Command::add_flag(const std::string& names, const std::string& description) {
  return keep(app_->add_flag(names, description));
}

void Command::set_footer(const std::string& text) { app_->footer(text); }
void Command::set_footer(std::function<std::string()> text) { app_->footer(std::move(text)); }

void Command::when_parsed(std::function<void()> act) { app_->callback(std::move(act)); }

const std::string& Command::name() const { return app_->get_name(); }

std::string Command::help() const { return with_one_end(app_->help()); }

bool Command::was_given(const std::string& name) const { return app_->count(name) > 0; }

std::optional<std::string> Command::empty_option() const {
  for (const Option& option : options_) {
    if (option.has_empty_value()) return option.option_->get_name();
  }
  for (const Command& command : commands_) {
    if (!command.app_->parsed()) continue;
    if (auto name = command.empty_option()) return name;
  }
  return std::nullopt;
}

CommandLine::CommandLine(const std::string& program, const std::string& description)
    : app_(std::make_unique<CLI::App>(description, program)), program_(app_.get()) {
  app_->fallthrough();
}

CommandLine::~CommandLine() = default;

void CommandLine::set_version(const std::string& version) {
  program_.keep(app_->set_version_flag("--version", version));
}

std::optional<std::string> CommandLine::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw OptionError(error.what());
    std::ostringstream text;
    app_->exit(error, text);
    return with_one_end(text.str());
  }
}

}}  // namespace c3::base
