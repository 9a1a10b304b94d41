// What a program says of wrong usage: which word is wrong, which was probably meant, where the help
// is.
//
// A part of command_line.h alone. CLI11 says of a wrong flag "The following argument was not
// expected", of a wrong command "A subcommand is required".
//
// Ownership: refers to its arguments during the call. Threads: one. Errors: they are its subject.
//
//   catch (const CLI::ParseError& error) { return AnswerParseError(app, error, words, out, err); }

#ifndef OPERATOR_BASE_COMMAND_USAGE_H_
#define OPERATOR_BASE_COMMAND_USAGE_H_

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace taas {

bool IsShown(const CLI::App* command);
// Of all commands, also of those that were not parsed.
std::vector<CLI::App*> CommandsOf(CLI::App* app);

// Help, version or a complaint about `words`, the command line that `app` has just refused. Returns
// the exit code: 0, or kExitWrongUsage.
int AnswerParseError(CLI::App* app, const CLI::ParseError& error,
                     const std::vector<std::string>& words, std::ostream& out, std::ostream& err);

// "help" and "help top job", of a program that has commands and none of this name; else nothing.
std::optional<int> AnswerHelp(CLI::App* app, const std::vector<std::string>& words,
                              std::ostream& out, std::ostream& err);

// What is wrong with a word that should have been one of `choices`; empty: nothing.
std::string ChoiceComplaint(const std::string& word, const std::vector<std::string>& choices);

}  // namespace taas

#endif  // OPERATOR_BASE_COMMAND_USAGE_H_
