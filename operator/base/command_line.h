// The command line of a program: commands within commands, options, flags, help and errors.
//
// The parser is CLI11, whose headers cost each file that includes them many seconds of compiling.
// Only command_line.cc and command_usage.cc do; the help is CLI11's.
//
// Ownership: CommandLine owns everything; Command and Option refer to parts of it, and copies to
// the same part. What they write to outlives it. Threads: one. Errors: wrong usage is printed by
// Parse, with the name that was probably meant, and is exit code 2; wrong declarations (a name
// twice) end the program by CLI11's exception. What a callback throws comes out of Parse.
//
//   CommandLine program({.name = "taas", .about = "Training jobs"});
//   program.AddOption("-o,--output", &output, "text or json").OneOf({"text", "json"});
//   if (const std::optional<int> exit_code = program.Parse(argc, argv)) return *exit_code;

#ifndef OPERATOR_BASE_COMMAND_LINE_H_
#define OPERATOR_BASE_COMMAND_LINE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace taas {

// Of every program: the command line is wrong.
inline constexpr int kExitWrongUsage = 2;

// A flag, an option with a value, or a positional argument.
class Option {
 public:
  Option Required();
  // In both directions.
  Option Excludes(const Option& other);

  // What values are refused. Each adds to those before and to the help.
  Option OneOf(std::initializer_list<const char*> values);
  Option OneOf(const std::vector<std::string>& values);
  Option Between(int64_t low, int64_t high);
  Option Positive();
  Option NonNegative();
  // Says what is wrong with a text, or nothing.
  Option Check(const std::function<std::string(const std::string&)>& complaint);

  // Of a list. "--env A=1 --env B=2": the next word is the next option's, a command's or, as behind
  // "--", a positional one.
  Option Repeated();
  // "-f A -f B" and also "-f A B"; the help shows one value.
  Option RepeatedOrListed();
  // "A,B" is two values.
  Option SplitAt(char separator);

  // From this environment variable where the command line does not give it.
  Option FromEnv(const std::string& variable);
  Option Default(const std::string& value);
  // The help shows the value that the variable has now.
  Option ShowDefault();
  // The title under which the help shows it.
  Option Group(const std::string& title);

  // After parsing: by the command line or by the environment.
  bool given() const;

  // What was declared. Names are without dashes.
  std::string name() const;  // As in messages: one name with its dashes, or the positional one.
  std::vector<std::string> long_names() const;
  std::vector<std::string> short_names() const;
  std::string positional_name() const;  // Empty: it has none.
  std::string about() const;
  bool takes_value() const;
  // Of OneOf; empty: any value.
  std::vector<std::string> choices() const;

  bool operator==(const Option&) const = default;

 private:
  friend class Command;
  explicit Option(CLI::Option* option) : option_(option) {}

  CLI::Option* option_;
};

struct CommandText {
  std::string name;
  std::string about;
};

class Command {
 public:
  Command AddCommand(const CommandText& text);

  // `names`: "-n,--namespace", or "JOB" for a positional one. `to` has the default.
  Option AddOption(const std::string& names, std::string* to, const std::string& about);
  Option AddOption(const std::string& names, int* to, const std::string& about);
  Option AddOption(const std::string& names, int64_t* to, const std::string& about);
  Option AddOption(const std::string& names, double* to, const std::string& about);
  Option AddOption(const std::string& names, std::vector<std::string>* to,
                   const std::string& about);
  Option AddOption(const std::string& names, std::vector<int64_t>* to, const std::string& about);
  // Nothing: it was not given.
  Option AddOption(const std::string& names, std::optional<std::string>* to,
                   const std::string& about);
  Option AddOption(const std::string& names, std::optional<int>* to, const std::string& about);
  Option AddOption(const std::string& names, std::optional<int64_t>* to, const std::string& about);
  Option AddOption(const std::string& names, std::optional<double>* to, const std::string& about);

  // "--follow,!--detach": --detach means false. "--sync{true},--nosync{false}": the same.
  Option AddFlag(const std::string& names, bool* to, const std::string& about);
  Option AddFlag(const std::string& names, std::optional<bool>* to, const std::string& about);
  // --version prints `text` and ends the program.
  void AddVersionFlag(const std::string& text);

  // Exactly one of the commands has to follow; who gives none sees the help, which is no error.
  void RequireCommand();
  // From help and from offers of a shell.
  void Hide();
  // Below the help.
  void SetFooter(const std::string& text);

  // `run` is called at the end of Parse if this command was given. `complaint` is called before it
  // and says what is wrong with the usage as a whole, or nothing; if something is, that is an error
  // as others, and `run` is not called.
  void OnRun(std::function<void()> run);
  void OnRun(std::function<std::string()> complaint, std::function<void()> run);

  // What was declared, in that order.
  std::string name() const;
  std::string about() const;
  bool hidden() const;
  std::vector<Command> commands() const;
  std::vector<Option> options() const;

 protected:
  explicit Command(CLI::App* app) : app_(app) {}

  CLI::App* app_;
};

class CommandLine : public Command {
 public:
  struct Output {
    std::ostream& out;  // Help and version.
    std::ostream& err;
  };

  // Without a name help shows the one by which the program was called, if Parse is told.
  explicit CommandLine(const CommandText& text = {});
  ~CommandLine();

  // Nothing: parsed, and what OnRun was given has been called. Else all has been printed, and the
  // exit code is 0 after help or version, else kExitWrongUsage. Arguments are those behind the
  // program's name. Prints on standard output and standard error.
  std::optional<int> Parse(int argc, const char* const* argv);
  std::optional<int> Parse(const std::vector<std::string>& arguments);
  std::optional<int> Parse(const std::vector<std::string>& arguments, const Output& output);

 private:
  std::unique_ptr<CLI::App> owned_;
};

}  // namespace taas

#endif  // OPERATOR_BASE_COMMAND_LINE_H_
