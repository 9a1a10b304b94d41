#include "operator/base/command_usage.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "CLI/CLI.hpp"
#include "operator/base/closest_name.h"
#include "operator/base/command_line.h"

namespace taas {
namespace {

bool IsOption(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

CLI::App* FindCommand(CLI::App* app, const std::string& name) {
  for (CLI::App* const command : CommandsOf(app)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

// A command and the words that lead to it.
struct Place {
  CLI::App* command;
  std::string parents;  // "taas"
  std::string path;     // "taas top"

  void Enter(CLI::App* next) {
    command = next;
    parents = std::exchange(path, path + " " + next->get_name());
  }
};

// A program that was given no name has the one that it was called by, with its directory.
Place PlaceOf(CLI::App* program) {
  const std::string& name = program->get_name();
  return {.command = program, .parents = "", .path = name.substr(name.rfind('/') + 1)};
}

// How far the words name commands.
struct Named {
  Place place;
  std::string unknown;  // The word after that; empty: there is none.
};

Named NameCommands(CLI::App* app, const std::vector<std::string>& words) {
  Named named{.place = PlaceOf(app), .unknown = ""};
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    CLI::App* const at = named.place.command;
    if (IsOption(word)) {
      const CLI::Option* const option = at->get_option_no_throw(word.substr(0, word.find('=')));
      if (option == nullptr) {
        named.unknown = word;
        return named;
      }
      const bool apart =
          option->get_items_expected_max() > 0 && word.find('=') == std::string::npos;
      if (apart) ++i;
      continue;
    }
    CLI::App* const command = FindCommand(at, word);
    if (command == nullptr) {
      named.unknown = word;
      return named;
    }
    named.place.Enter(command);
  }
  return named;
}

int Complain(const Place& place, const std::string& what, std::ostream& err) {
  if (!place.path.empty()) err << place.path << ": ";
  err << what << "\n";
  err << "Run `" << place.path << (place.path.empty() ? "" : " ")
      << "--help` for more information.\n";
  return kExitWrongUsage;
}

bool HasOption(CLI::App* app, const std::string& name) {
  if (app->get_option_no_throw(name) != nullptr) return true;
  const std::vector<CLI::App*> commands = CommandsOf(app);
  return std::any_of(commands.begin(), commands.end(),
                     [&](CLI::App* command) { return HasOption(command, name); });
}

// With dashes, which every name has, two short names would be near each other.
std::string DidYouMeanOption(CLI::App* command, const std::string& name) {
  const std::string written = name.substr(name.find_first_not_of('-'));
  std::vector<std::string> names;
  for (const CLI::Option* const option : command->get_options()) {
    for (const std::string& known : option->get_lnames()) {
      if (known == written) return "did you mean --" + known + ", with two dashes?";
      names.push_back(known);
    }
  }
  const std::optional<std::string> closest = ClosestName(written, names);
  return closest.has_value() ? "did you mean --" + *closest + "?" : "";
}

int ComplainOfOption(const Place& place, const std::string& word, std::ostream& err) {
  const std::string name = word.substr(0, word.find('='));
  std::string what = "there is no option " + name;
  if (name.find_first_not_of('-') == std::string::npos) return Complain(place, what, err);
  const std::string meant = DidYouMeanOption(place.command, name);
  if (!meant.empty()) {
    what += "; " + meant;
  } else if (HasOption(place.command, name)) {
    what += " here: it stands behind the command";
  }
  return Complain(place, what, err);
}

int ComplainOfCommand(const Place& place, const std::string& word, std::ostream& err) {
  std::vector<std::string> names;
  for (const CLI::App* const command : CommandsOf(place.command)) {
    if (IsShown(command)) names.push_back(command->get_name());
  }
  std::string what = "there is no command " + word;
  if (const std::string meant = DidYouMean(word, names); !meant.empty()) what += "; " + meant;
  return Complain(place, what + "\nCommands: " + Joined(names), err);
}

int ComplainOfWord(const Place& place, const std::string& word, std::ostream& err) {
  if (!CommandsOf(place.command).empty()) return ComplainOfCommand(place, word, err);
  std::vector<std::string> takes;
  for (const CLI::Option* const option : place.command->get_options()) {
    if (option->get_positional()) takes.push_back(option->get_name(/*positional=*/true));
  }
  const std::string what = "\"" + word + "\" is one word too many: beside options it takes " +
                           (takes.empty() ? "none" : Joined(takes));
  return Complain(place, what, err);
}

// Where parsing stopped, and the words that had no place there.
struct Leftover {
  Place place;
  std::vector<std::string> words;

  // The first that looks like an option; null: none does.
  const std::string* option() const {
    const auto found = std::find_if(words.begin(), words.end(), IsOption);
    return found == words.end() ? nullptr : &*found;
  }
};

Leftover LeftoverOf(CLI::App* app) {
  Leftover left{.place = PlaceOf(app), .words = {}};
  for (;;) {
    for (std::string& word : left.place.command->remaining()) {
      if (word != "--") left.words.push_back(std::move(word));
    }
    const std::vector<CLI::App*> parsed = left.place.command->get_subcommands();
    if (!left.words.empty() || parsed.empty()) return left;
    left.place.Enter(parsed.front());
  }
}

// `taas validate FILE` is probably meant as `taas validate --filename FILE`.
std::string WithLeftover(const Leftover& left, const std::string& what) {
  if (left.words.empty()) return what;
  for (const CLI::Option* const option : left.place.command->get_options()) {
    const bool missing = option->get_required() && option->count() == 0 &&
                         !option->get_positional() &&
                         what == option->get_name() + " is required";
    if (missing) return what + ": write " + option->get_name() + " " + left.words.front();
  }
  return what;
}

// CLI11's own words where they read badly.
std::string Reworded(const CLI::ParseError& error) {
  const std::string what = error.what();
  const std::string option = what.substr(0, what.find_first_of(": "));
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) {
    if (what.ends_with(" missing")) return option + " needs a value";
    if (what.find("At Most 1 required") != std::string::npos) {
      return option + " is given more than once";
    }
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExcludesError)) {
    return option + " and " + what.substr(what.rfind(' ') + 1) +
           " exclude each other: give one of them";
  }
  const std::string too_large = "Could not convert: ";
  if (what.starts_with(too_large)) return what.substr(too_large.size()) + ": is too large";
  return what;
}

// CLI11 says "A subcommand is required" of all of these: no word at all, one that is no command,
// and an option that is none. As with kubectl, who says nothing wants to see the help.
int AnswerWithoutCommand(const Named& named, std::ostream& out, std::ostream& err) {
  const Place& place = named.place;
  if (named.unknown.empty()) {
    out << place.command->help(place.parents);
    return 0;
  }
  return IsOption(named.unknown) ? ComplainOfOption(place, named.unknown, err)
                                 : ComplainOfCommand(place, named.unknown, err);
}

}  // namespace

bool IsShown(const CLI::App* command) { return !command->get_group().empty(); }

std::vector<CLI::App*> CommandsOf(CLI::App* app) {
  // Without a filter CLI11 gives those that were parsed.
  return app->get_subcommands([](CLI::App*) { return true; });
}

int AnswerParseError(CLI::App* app, const CLI::ParseError& error,
                     const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
  if (error.get_exit_code() == 0) return app->exit(error, out, err);
  const bool is_required =
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  if (is_required && std::string(error.what()) == CLI::RequiredError::Subcommand(1).what()) {
    return AnswerWithoutCommand(NameCommands(app, words), out, err);
  }
  const Leftover left = LeftoverOf(app);
  const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (is_required || is_extra) {
    // What is required was perhaps given, under a name with a mistake in it.
    if (left.option() != nullptr) return ComplainOfOption(left.place, *left.option(), err);
    if (is_extra) return ComplainOfWord(left.place, left.words.front(), err);
  }
  return Complain(left.place, WithLeftover(left, Reworded(error)), err);
}

std::optional<int> AnswerHelp(CLI::App* app, const std::vector<std::string>& words,
                              std::ostream& out, std::ostream& err) {
  const bool asked = !words.empty() && words[0] == "help" && !CommandsOf(app).empty() &&
                     FindCommand(app, "help") == nullptr;
  if (!asked) return std::nullopt;
  const Named named = NameCommands(app, {words.begin() + 1, words.end()});
  return AnswerWithoutCommand(named, out, err);
}

std::string ChoiceComplaint(const std::string& word, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return "";
  const std::string meant = DidYouMean(word, choices);
  return "\"" + word + "\" is none of " + Joined(choices) + (meant.empty() ? "" : "; ") + meant;
}

}  // namespace taas
