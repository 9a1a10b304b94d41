#include "operator/base/command_line.h"

#include <cstdio>
#include <sstream>
#include <utility>

#include "CLI/CLI.hpp"
#include "operator/base/closest_name.h"

namespace taas {
namespace {

// CLI11 takes a vector from its end.
std::vector<std::string> Reversed(const std::vector<std::string>& arguments) {
  return {arguments.rbegin(), arguments.rend()};
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

bool IsShown(const CLI::App* command) { return !command->get_group().empty(); }

std::vector<CLI::App*> CommandsOf(CLI::App* app) {
  // Without a filter CLI11 gives those that were parsed.
  return app->get_subcommands([](CLI::App*) { return true; });
}

CLI::App* FindCommand(CLI::App* app, const std::string& name) {
  for (CLI::App* const command : CommandsOf(app)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

// How far the words name commands.
struct Named {
  CLI::App* command;
  std::string parents;  // "taas"
  std::string path;     // "taas top"
  std::string unknown;  // The word after that; empty: there is none.
};

Named NameCommands(CLI::App* app, const std::vector<std::string>& words) {
  Named named{.command = app, .parents = "", .path = app->get_name(), .unknown = ""};
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    if (word.size() > 1 && word[0] == '-') {
      const CLI::Option* const option =
          named.command->get_option_no_throw(word.substr(0, word.find('=')));
      if (option == nullptr) {
        named.unknown = word;
        return named;
      }
      const bool apart = option->get_items_expected_max() > 0 &&
                         word.find('=') == std::string::npos;
      if (apart) ++i;
      continue;
    }
    CLI::App* const command = FindCommand(named.command, word);
    if (command == nullptr) {
      named.unknown = word;
      return named;
    }
    named.command = command;
    named.parents = named.path;
    named.path += " " + word;
  }
  return named;
}

constexpr int kRequired = static_cast<int>(CLI::ExitCodes::RequiredError);

// CLI11 says "A subcommand is required" of all of these: no word at all, one that is no command,
// and an option that is none.
int ExitWithoutCommand(const Named& named, std::ostream& err) {
  if (named.unknown.empty()) {
    err << named.command->help(named.parents);
    return kRequired;
  }
  std::vector<std::string> names;
  std::string list;
  for (const CLI::App* const command : CommandsOf(named.command)) {
    if (!IsShown(command)) continue;
    names.push_back(command->get_name());
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const bool is_option = named.unknown[0] == '-';
  const std::string meant = is_option ? "" : DidYouMean(named.unknown, names);
  err << named.path << (named.path.empty() ? "" : ": ") << "there is no "
      << (is_option ? "option " : "command ") << named.unknown << (meant.empty() ? "" : "; ")
      << meant << "\nCommands: " << list << "\nRun with --help for more information.\n";
  return kRequired;
}

// "help" and "help top job", of a program that has commands and none of this name.
std::optional<int> AnswerHelp(CLI::App* app, const std::vector<std::string>& words,
                              std::ostream& out, std::ostream& err) {
  const bool asked = !words.empty() && words[0] == "help" &&
                     app->get_require_subcommand_min() > 0 && FindCommand(app, "help") == nullptr;
  if (!asked) return std::nullopt;
  const Named named = NameCommands(app, {words.begin() + 1, words.end()});
  if (!named.unknown.empty()) return ExitWithoutCommand(named, err);
  out << named.command->help(named.parents);
  return 0;
}

// What is written goes to standard output and standard error when this goes.
struct StandardOutput {
  std::ostringstream out, err;
  ~StandardOutput() {
    std::fputs(out.str().c_str(), stdout);
    std::fputs(err.str().c_str(), stderr);
  }
};

int Exit(CLI::App* app, const CLI::ParseError& error, const std::vector<std::string>& words,
         std::ostream& out, std::ostream& err) {
  const bool no_command =
      error.get_exit_code() == kRequired &&
      std::string(error.what()) == CLI::RequiredError::Subcommand(1).what();
  if (no_command) return ExitWithoutCommand(NameCommands(app, words), err);
  return app->exit(error, out, err);
}

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
  option_->check(CLI::IsMember(std::vector<std::string>(values.begin(), values.end())));
  return *this;
}

Option Option::Between(int64_t low, int64_t high) {
  option_->check(CLI::Range(low, high));
  return *this;
}

Option Option::Positive() {
  CheckNumber(option_, "POSITIVE", "a number above 0", [](double number) { return number > 0; });
  return *this;
}

Option Option::NonNegative() {
  CheckNumber(option_, "NONNEGATIVE", "a number from 0 on",
              [](double number) { return number >= 0; });
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

// CLI11 tells the values of IsMember in the name of the type only: "TEXT:{json,yaml}".
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
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, int64_t* to, const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, double* to, const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, std::vector<std::string>* to,
                          const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, std::vector<int64_t>* to,
                          const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, std::optional<std::string>* to,
                          const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, std::optional<int>* to,
                          const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, std::optional<int64_t>* to,
                          const std::string& about) {
  return Option(app_->add_option(names, *to, about));
}

Option Command::AddOption(const std::string& names, std::optional<double>* to,
                          const std::string& about) {
  return Option(app_->add_option(names, *to, about));
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
  StandardOutput output;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return Exit(app_, error, {argv + 1, argv + argc}, output.out, output.err);
  }
  return std::nullopt;
}

std::optional<int> CommandLine::Parse(const std::vector<std::string>& arguments) {
  StandardOutput output;
  return Parse(arguments, {.out = output.out, .err = output.err});
}

std::optional<int> CommandLine::Parse(const std::vector<std::string>& arguments,
                                      const Output& output) {
  if (const auto ended = AnswerHelp(app_, arguments, output.out, output.err)) return ended;
  try {
    app_->parse(Reversed(arguments));
  } catch (const CLI::ParseError& error) {
    return Exit(app_, error, arguments, output.out, output.err);
  }
  return std::nullopt;
}

}  // namespace taas
