#include "operator/base/command_line.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "CLI/CLI.hpp"
#include "operator/base/command_usage.h"

namespace taas {
namespace {

// CLI11 takes a vector from its end.
std::vector<std::string> Reversed(const std::vector<std::string>& arguments) {
  return {arguments.rbegin(), arguments.rend()};
}

std::string WithDashes(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

// Long names of the program and its commands, by how they are with dashes only.
void AddLongNames(const CLI::App* app, std::multimap<std::string, std::string>* names) {
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) names->emplace(WithDashes(name), name);
  }
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; })) {
    AddLongNames(command, names);
  }
}

// "--learning-rate" where the name is --learning_rate, and the other way round: training programs
// have both customs, and nobody remembers which has which.
std::vector<std::string> WithKnownSpelling(const CLI::App* app,
                                           std::vector<std::string> arguments) {
  std::multimap<std::string, std::string> names;
  AddLongNames(app, &names);
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    const size_t end = std::min(argument.find('='), argument.size());
    const std::string name = argument.substr(2, end - 2);
    const auto [first, last] = names.equal_range(WithDashes(name));
    const bool known =
        std::any_of(first, last, [&](const auto& one) { return one.second == name; });
    if (first != last && !known) argument.replace(2, end - 2, first->second);
  }
  return arguments;
}

// Refuses what is no number and what `fits` does not take. CLI11's own sentence names all digits of
// the greatest double.
template <typename Fits>
void CheckNumber(CLI::Option* option, const char* type, const char* want, Fits fits) {
  const auto complaint = [want, fits](std::string& text) -> std::string {
    double number = 0;
    const bool good = CLI::detail::lexical_cast(text, number) && fits(number);
    return good ? "" : text + " is not " + want;
  };
  option->check(CLI::Validator(complaint, type));
}

// Refuses what cannot be converted, before CLI11 does, which says "Could not convert". What is too
// large is left to the bounds of the option, which tell them. It has no part in the help, which
// tells the type already.
template <typename Number>
CLI::Option* Typed(CLI::Option* option, const char* want) {
  const auto complaint = [want](std::string& text) -> std::string {
    Number number{};
    double any = 0;
    const bool good = CLI::detail::lexical_cast(text, number) ||
                      (text.find_first_not_of("-0123456789") == std::string::npos &&
                       CLI::detail::lexical_cast(text, any));
    return good ? "" : "\"" + text + "\" is not " + want;
  };
  return option->check(CLI::Validator(complaint, ""));
}
constexpr char kWhole[] = "a whole number";
constexpr char kReal[] = "a number";

// What is written goes to standard output and standard error when this goes.
struct StandardOutput {
  std::ostringstream out, err;
  ~StandardOutput() {
    std::fputs(out.str().c_str(), stdout);
    std::fputs(err.str().c_str(), stderr);
  }
};

}  // namespace

Option Option::Required() {
  option_->required();
  return *this;
}

Option Option::Excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::OneOf(std::initializer_list<const char*> values) {
  return OneOf(std::vector<std::string>(values.begin(), values.end()));
}

Option Option::OneOf(const std::vector<std::string>& choices) {
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ",") + choice;
  option_->check(CLI::Validator(
      [choices](std::string& word) { return ChoiceComplaint(word, choices); }, "{" + list + "}"));
  return *this;
}

Option Option::Between(int64_t low, int64_t high) {
  option_->check(CLI::Range(low, high));
  return *this;
}

Option Option::Positive() {
  // An infinity is no number that anybody means.
  CheckNumber(option_, "POSITIVE", "a number above 0", [](double number) {
    return number > 0 && number <= std::numeric_limits<double>::max();
  });
  return *this;
}

Option Option::NonNegative() {
  CheckNumber(option_, "NONNEGATIVE", "a number from 0 on",
              [](double number) {
                return number >= 0 && number <= std::numeric_limits<double>::max();
              });
  return *this;
}

Option Option::Check(const std::function<std::string(const std::string&)>& complaint) {
  option_->check(complaint);
  return *this;
}

Option Option::Repeated() {
  // With extra arguments CLI11 takes the "--" before a command for the end of these values.
  option_->take_all()->expected(1)->allow_extra_args(false);
  return *this;
}

Option Option::RepeatedOrListed() {
  option_->take_all()->expected(1);
  return *this;
}

Option Option::SplitAt(char separator) {
  option_->delimiter(separator);
  return *this;
}

Option Option::FromEnv(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

Option Option::Default(const std::string& value) {
  option_->default_val(value);
  return *this;
}

Option Option::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

Option Option::Group(const std::string& title) {
  option_->group(title);
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

std::string Option::name() const { return option_->get_name(); }

std::vector<std::string> Option::long_names() const { return option_->get_lnames(); }

std::vector<std::string> Option::short_names() const { return option_->get_snames(); }

std::string Option::positional_name() const {
  return option_->get_positional() ? option_->get_name(/*positional=*/true) : "";
}

std::string Option::about() const { return option_->get_description(); }

bool Option::takes_value() const { return option_->get_items_expected_max() > 0; }

// OneOf tells them in the name of the type, as CLI11's help wants it: "TEXT:{json,yaml}".
std::vector<std::string> Option::choices() const {
  const std::string type = option_->get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.find('}', open == std::string::npos ? 0 : open);
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::string choice;
  for (size_t i = open + 1; i <= close; ++i) {
    if (type[i] == ',' || i == close) {
      choices.push_back(std::move(choice));
      choice.clear();
    } else {
      choice += type[i];
    }
  }
  return choices;
}

Command Command::AddCommand(const CommandText& text) {
  return Command(app_->add_subcommand(text.name, text.about));
}

Option Command::AddOption(const std::string& names, std::string* to, const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, int* to, const std::string& about) {
  return Option(Typed<int>(app_->add_option(names, *to, about), kWhole));
}

Option Command::AddOption(const std::string& names, int64_t* to, const std::string& about) {
  return Option(Typed<int64_t>(app_->add_option(names, *to, about), kWhole));
}

Option Command::AddOption(const std::string& names, double* to, const std::string& about) {
  return Option(Typed<double>(app_->add_option(names, *to, about), kReal));
}

Option Command::AddOption(const std::string& names, std::vector<std::string>* to,
                          const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, std::vector<int64_t>* to,
                          const std::string& about) {
  return Option(Typed<int64_t>(app_->add_option(names, *to, about), kWhole));
}

Option Command::AddOption(const std::string& names, std::optional<std::string>* to,
                          const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, std::optional<int>* to,
                          const std::string& about) {
  return Option(Typed<int>(app_->add_option(names, *to, about), kWhole));
}

Option Command::AddOption(const std::string& names, std::optional<int64_t>* to,
                          const std::string& about) {
  return Option(Typed<int64_t>(app_->add_option(names, *to, about), kWhole));
}

Option Command::AddOption(const std::string& names, std::optional<double>* to,
                          const std::string& about) {
  return Option(Typed<double>(app_->add_option(names, *to, about), kReal));
}

Option Command::AddFlag(const std::string& names, bool* to, const std::string& about) {
  return Option(app_->add_flag(names, *to, about));
}

Option Command::AddFlag(const std::string& names, std::optional<bool>* to,
                        const std::string& about) {
  // A flag bound to an optional is set by CLI11 even where it is not given.
  return Option(app_->add_flag_function(
      names, [to](int64_t sum) { *to = sum > 0; }, about));
}

void Command::AddVersionFlag(const std::string& text) { app_->set_version_flag("--version", text); }

void Command::RequireCommand() { app_->require_subcommand(1); }

void Command::Hide() { app_->group(""); }

void Command::SetFooter(const std::string& text) { app_->footer(text); }

void Command::OnRun(std::function<void()> run) { app_->callback(std::move(run)); }

void Command::OnRun(std::function<std::string()> complaint, std::function<void()> run) {
  app_->callback([complaint = std::move(complaint), run = std::move(run)] {
    const std::string wrong = complaint();
    if (!wrong.empty()) throw CLI::ValidationError(wrong);
    run();
  });
}

std::string Command::name() const { return app_->get_name(); }

std::string Command::about() const { return app_->get_description(); }

bool Command::hidden() const { return !IsShown(app_); }

std::vector<Command> Command::commands() const {
  std::vector<Command> commands;
  for (CLI::App* const app : CommandsOf(app_)) commands.push_back(Command(app));
  return commands;
}

std::vector<Option> Command::options() const {
  std::vector<Option> options;
  for (CLI::Option* const option : app_->get_options()) options.push_back(Option(option));
  return options;
}

CommandLine::CommandLine(const CommandText& text)
    : Command(nullptr), owned_(std::make_unique<CLI::App>(text.about, text.name)) {
  app_ = owned_.get();
}

CommandLine::~CommandLine() = default;

std::optional<int> CommandLine::Parse(int argc, const char* const* argv) {
  // As CLI11 does it where it is given argv.
  if (app_->get_name().empty() && argc > 0) app_->name(argv[0]);
  return Parse({argv + 1, argv + argc});
}

std::optional<int> CommandLine::Parse(const std::vector<std::string>& arguments) {
  StandardOutput output;
  return Parse(arguments, {.out = output.out, .err = output.err});
}

std::optional<int> CommandLine::Parse(const std::vector<std::string>& arguments,
                                      const Output& output) {
  if (const auto ended = AnswerHelp(app_, arguments, output.out, output.err)) return ended;
  try {
    app_->parse(Reversed(WithKnownSpelling(app_, arguments)));
  } catch (const CLI::ParseError& error) {
    return AnswerParseError(app_, error, arguments, output.out, output.err);
  }
  return std::nullopt;
}

}  // namespace taas
