#include "operator/base/command_line.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kRunHelp[] = "Run `prog --help` for more information.\n";

class CommandLineTest : public testing::Test {
 protected:
  std::optional<int> Parse(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return program_.Parse(arguments, {.out = out_, .err = err_});
  }
  // What stands on `err` for wrong usage.
  std::string Complaint(const std::vector<std::string>& arguments) {
    EXPECT_EQ(Parse(arguments), 2);
    EXPECT_EQ(out_.str(), "");
    return err_.str();
  }

  CommandLine program_{{.name = "prog", .about = "What it does"}};
  std::ostringstream out_, err_;
};

TEST_F(CommandLineTest, EachTypeOfValueIsRead) {
  std::string text = "default";
  int number = 0;
  int64_t large = 0;
  double real = 0;
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  bool flag = false;
  program_.AddOption("-t,--text", &text, "");
  program_.AddOption("--number", &number, "");
  program_.AddOption("--large", &large, "");
  program_.AddOption("--real", &real, "");
  program_.AddOption("TEXTS", &texts, "");
  program_.AddOption("--numbers", &numbers, "").SplitAt(',');
  program_.AddFlag("-f,--flag", &flag, "");
  EXPECT_EQ(Parse({"a", "--numbers=1,2", "-t", "x y", "--number=-3", "--large", "5000000000",
                   "--real", "2.5", "-f", "b"}),
            std::nullopt);
  EXPECT_EQ(text, "x y");
  EXPECT_EQ(number, -3);
  EXPECT_EQ(large, 5'000'000'000);
  EXPECT_EQ(real, 2.5);
  EXPECT_THAT(texts, ElementsAre("a", "b"));
  EXPECT_THAT(numbers, ElementsAre(1, 2));
  EXPECT_TRUE(flag);
}

TEST_F(CommandLineTest, WhatIsNotGivenKeepsItsValue) {
  std::string text = "default";
  std::optional<std::string> other;
  std::optional<int> number;
  std::optional<int64_t> large;
  std::optional<double> real;
  std::optional<bool> flag;
  const Option option = program_.AddOption("--text", &text, "");
  program_.AddOption("--other", &other, "");
  program_.AddOption("--number", &number, "");
  program_.AddOption("--large", &large, "");
  program_.AddOption("--real", &real, "");
  program_.AddFlag("--on{true},--off{false}", &flag, "");
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(text, "default");
  EXPECT_FALSE(option.given());
  EXPECT_FALSE(other || number || large || real || flag);

  EXPECT_EQ(Parse({"--text", "t", "--other", "o", "--number", "0", "--large", "1", "--real", "2",
                   "--off"}),
            std::nullopt);
  EXPECT_TRUE(option.given());
  EXPECT_EQ(other, "o");
  EXPECT_EQ(number, 0);
  EXPECT_EQ(large, 1);
  EXPECT_EQ(real, 2);
  EXPECT_EQ(flag, false);
}

// Symptom: `taas` has --learning-rate, `taas-trainer` --learning_rate; each refused the other.
TEST_F(CommandLineTest, DashesAndUnderscoresOfANameAreTheSame) {
  double rate = 0;
  int steps = 0;
  std::string text;
  program_.AddOption("--learning_rate", &rate, "");
  Command command = program_.AddCommand({.name = "go"});
  command.AddOption("--max-steps", &steps, "");
  command.AddOption("TEXT", &text, "");
  EXPECT_EQ(Parse({"--learning-rate=0.5", "go", "--max_steps", "7", "--", "--max_steps"}),
            std::nullopt);
  EXPECT_EQ(rate, 0.5);
  EXPECT_EQ(steps, 7);
  EXPECT_EQ(text, "--max_steps") << "behind -- nothing is a name";
}

TEST_F(CommandLineTest, AFlagMayHaveANameThatMeansFalse) {
  bool follow = true;
  program_.AddFlag("--follow,!--detach", &follow, "");
  EXPECT_EQ(Parse({"--detach"}), std::nullopt);
  EXPECT_FALSE(follow);
  EXPECT_EQ(Parse({"--follow"}), std::nullopt);
  EXPECT_TRUE(follow);
}

TEST_F(CommandLineTest, ARepeatedOptionTakesOneValueEachTime) {
  std::vector<std::string> envs, files, command;
  program_.AddOption("--env", &envs, "").Repeated();
  program_.AddOption("--file", &files, "").RepeatedOrListed();
  program_.AddOption("COMMAND", &command, "");
  EXPECT_EQ(Parse({"--env", "A=1", "--env", "B=2", "python", "--", "--env"}), std::nullopt);
  EXPECT_THAT(envs, ElementsAre("A=1", "B=2"));
  EXPECT_THAT(command, ElementsAre("python", "--env"));
  EXPECT_EQ(Parse({"--env", "A=1", "--", "ls"}), std::nullopt);
  EXPECT_THAT(envs, ElementsAre("A=1"));
  EXPECT_THAT(command, ElementsAre("ls"));
  EXPECT_EQ(Parse({"--file", "a", "b", "--file", "c"}), std::nullopt);
  EXPECT_THAT(files, ElementsAre("a", "b", "c"));
}

TEST_F(CommandLineTest, AValueComesFromTheEnvironmentWhereTheLineHasNone) {
  setenv("COMMAND_LINE_TEST", "from the environment", /*overwrite=*/1);
  std::string text;
  const Option option = program_.AddOption("--text", &text, "").FromEnv("COMMAND_LINE_TEST");
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(text, "from the environment");
  EXPECT_TRUE(option.given());
  EXPECT_EQ(Parse({"--text", "from the line"}), std::nullopt);
  EXPECT_EQ(text, "from the line");
  unsetenv("COMMAND_LINE_TEST");
}

TEST_F(CommandLineTest, HelpIsWhatWasDeclared) {
  std::string format = "text";
  int number = 7;
  std::vector<std::string> envs;
  bool flag = false;
  std::string job;
  program_.AddVersionFlag("prog 1.2");
  program_.AddOption("JOB", &job, "which job").Required();
  program_.AddOption("-o,--output", &format, "format").OneOf({"text", "json"}).ShowDefault();
  program_.AddOption("--number", &number, "number").Between(1, 9).FromEnv("N").Group("Sizes");
  program_.AddOption("--env", &envs, "environment").Repeated();
  program_.AddFlag("--flag", &flag, "flag");
  program_.AddCommand({.name = "list", .about = "Lists"});
  program_.AddCommand({.name = "shim", .about = "Hidden"}).Hide();
  program_.SetFooter("The end.");
  EXPECT_EQ(Parse({"--help"}), 0);
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(out_.str(),
            "What it does\n"
            "Usage: prog [OPTIONS] JOB [SUBCOMMAND]\n"
            "\n"
            "Positionals:\n"
            "  JOB TEXT REQUIRED           which job\n"
            "\n"
            "Options:\n"
            "  -h,--help                   Print this help message and exit\n"
            "  --version                   Display program version information and exit\n"
            "  -o,--output TEXT:{text,json}=text\n"
            "                              format\n"
            "  --env TEXT                  environment\n"
            "  --flag                      flag\n"
            "\n"
            "\n"
            "Sizes:\n"
            "  --number INT:INT in [1 - 9] (Env:N)\n"
            "                              number\n"
            "\n"
            "Subcommands:\n"
            "  list                        Lists\n"
            "\n"
            "The end.\n");
}

TEST_F(CommandLineTest, TheVersionIsPrinted) {
  program_.AddVersionFlag("prog 1.2");
  EXPECT_EQ(Parse({"--version"}), 0);
  EXPECT_EQ(out_.str(), "prog 1.2\n");
}

TEST_F(CommandLineTest, EachRefusedValueIsNamed) {
  std::string output;
  int between = 0, positive = 0, not_negative = 0;
  double rate = 0;
  program_.AddOption("--output", &output, "").OneOf({"text", "json"});
  program_.AddOption("--between", &between, "").Between(1, 9);
  program_.AddOption("--positive", &positive, "").Positive();
  program_.AddOption("--rate", &rate, "").Positive();
  program_.AddOption("--not-negative", &not_negative, "").NonNegative();
  program_.AddOption("--odd", &output, "").Check([](const std::string& text) {
    return text == "odd" ? "" : text + " is not odd";
  });
  EXPECT_EQ(Complaint({"--output", "xml"}),
            std::string("prog: --output: \"xml\" is none of text, json\n") + kRunHelp);
  EXPECT_THAT(Complaint({"--output", "jsn"}), HasSubstr("; did you mean \"json\"?\n"));
  EXPECT_EQ(Complaint({"--between", "10"}),
            std::string("prog: --between: Value 10 not in range 1 to 9\n") + kRunHelp);
  EXPECT_THAT(Complaint({"--between", "5000000000"}), HasSubstr("not in range 1 to 9"));
  EXPECT_THAT(Complaint({"--between", "many"}), HasSubstr("\"many\" is not a whole number\n"));
  // `taas submit --workers -1` named a range of 309 digits.
  EXPECT_EQ(Complaint({"--positive", "0"}),
            std::string("prog: --positive: 0 is not a number above 0\n") + kRunHelp);
  EXPECT_EQ(Complaint({"--not-negative", "-1"}),
            std::string("prog: --not-negative: -1 is not a number from 0 on\n") + kRunHelp);
  EXPECT_THAT(Complaint({"--rate", "inf"}), HasSubstr("--rate: inf is not a number above 0\n"));
  EXPECT_THAT(Complaint({"--rate", "nan"}), HasSubstr("--rate: nan is not a number above 0\n"));
  EXPECT_THAT(Complaint({"--positive", "some"}), HasSubstr("\"some\" is not a whole number\n"));
  EXPECT_EQ(Complaint({"--odd", "2"}), std::string("prog: --odd: 2 is not odd\n") + kRunHelp);
  EXPECT_EQ(Parse({"--output", "json", "--between", "9", "--positive", "1", "--not-negative", "0",
                   "--odd", "odd"}),
            std::nullopt);
}

// It said "The following argument was not expected", "Could not convert: --number = many",
// "--number: 1 required INT missing", and had another exit code for each.
TEST_F(CommandLineTest, WrongUsageIsToldInOneFormAndIsOneExitCode) {
  std::string job;
  int number = 0;
  double rate = 0;
  bool a = false, b = false;
  program_.AddOption("JOB", &job, "").Required();
  program_.AddOption("--number", &number, "");
  program_.AddOption("--learning_rate", &rate, "");
  program_.AddFlag("-a", &a, "").Excludes(program_.AddFlag("-b", &b, ""));
  const struct {
    std::vector<std::string> words;
    std::string said;
  } kCases[] = {
      {{}, "JOB is required"},
      {{"mnist", "--number", "many"}, "--number: \"many\" is not a whole number"},
      {{"mnist", "--number", "1.5"}, "--number: \"1.5\" is not a whole number"},
      {{"mnist", "--number", "5000000000"}, "--number = 5000000000: is too large"},
      {{"mnist", "--learning_rate", "fast"}, "--learning_rate: \"fast\" is not a number"},
      {{"mnist", "--number"}, "--number needs a value"},
      {{"mnist", "--number", "1", "--number", "2"}, "--number is given more than once"},
      {{"mnist", "-a", "-b"}, "-a and -b exclude each other: give one of them"},
      {{"mnist", "--none"}, "there is no option --none"},
      {{"mnist", "--nmber", "3"}, "there is no option --nmber; did you mean --number?"},
      {{"mnist", "--nmber=3"}, "there is no option --nmber; did you mean --number?"},
      {{"--learning-rat", "1"}, "there is no option --learning-rat; did you mean "
                                "--learning_rate?"},
      {{"mnist", "-number", "3"}, "there is no option -number; did you mean --number, with two "
                                  "dashes?"},
      {{"mnist", "more"}, "\"more\" is one word too many: beside options it takes JOB"},
  };
  for (const auto& [words, said] : kCases) {
    EXPECT_EQ(Complaint(words), "prog: " + said + "\n" + kRunHelp);
  }
}

// `taas validate FILE` said "--filename is required".
TEST_F(CommandLineTest, AWordWithoutItsOptionIsToldWhichItIsOf) {
  std::vector<std::string> files;
  program_.AddCommand({.name = "validate", .about = ""})
      .AddOption("-f,--filename", &files, "")
      .Required();
  EXPECT_EQ(Complaint({"validate", "job.yaml"}),
            "prog validate: --filename is required: write --filename job.yaml\n"
            "Run `prog validate --help` for more information.\n");
  EXPECT_THAT(Complaint({"validate"}), HasSubstr("prog validate: --filename is required\n"));
  EXPECT_THAT(Complaint({"validate", "--flename", "a"}), HasSubstr("did you mean --filename?"));
  EXPECT_THAT(Complaint({"--filename", "a", "validate"}),
              HasSubstr("prog: there is no option --filename here: it stands behind the command"));
}

// Of a program with commands that does something without one, too.
TEST_F(CommandLineTest, AWordThatIsNoCommandIsToldWhichWasMeantWhereNoneIsRequired) {
  bool flag = false;
  program_.AddFlag("--flag", &flag, "");
  program_.AddCommand({.name = "predict", .about = "Predicts"});
  EXPECT_EQ(Complaint({"prdict"}), std::string("prog: there is no command prdict; did you mean "
                                               "\"predict\"?\nCommands: predict\n") + kRunHelp);
  EXPECT_EQ(Parse({"help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("Usage: prog"));
}

TEST_F(CommandLineTest, TheCommandThatWasGivenRuns) {
  std::string ran;
  program_.RequireCommand();
  Command top = program_.AddCommand({.name = "top", .about = ""});
  top.RequireCommand();
  top.AddCommand({.name = "node", .about = ""}).OnRun([&] { ran += "node "; });
  top.AddCommand({.name = "job", .about = ""}).OnRun([&] { ran += "job "; });
  EXPECT_EQ(Parse({"top", "job"}), std::nullopt);
  EXPECT_EQ(ran, "job ");
  EXPECT_EQ(Parse({}), 0);
  EXPECT_EQ(ran, "job ");
}

// `taas lits`, `taas top jobs` and a bare `taas` all said "A subcommand is required".
TEST_F(CommandLineTest, WhoNamesNoCommandIsToldWhatWasWrongAndWhatThereIs) {
  std::string text;
  program_.RequireCommand();
  program_.AddOption("--config", &text, "");
  program_.AddCommand({.name = "list", .about = "Lists"});
  program_.AddCommand({.name = "shim", .about = "Hidden"}).Hide();
  Command top = program_.AddCommand({.name = "top", .about = "Shows use"});
  top.RequireCommand();
  top.AddCommand({.name = "node", .about = "Of nodes"});
  EXPECT_EQ(Complaint({"lits"}),
            std::string("prog: there is no command lits; did you mean \"list\"?\n"
                        "Commands: list, top\n") + kRunHelp);
  EXPECT_EQ(Complaint({"--config", "list", "frobnicate"}),
            std::string("prog: there is no command frobnicate\nCommands: list, top\n") + kRunHelp);
  EXPECT_THAT(Complaint({"--config=x", "top", "nodez"}),
              HasSubstr("prog top: there is no command nodez; did you mean \"node\"?\n"
                        "Commands: node\n"));
  EXPECT_THAT(Complaint({"--confg", "x"}),
              HasSubstr("prog: there is no option --confg; did you mean --config?\n"));
  // As kubectl does it.
  EXPECT_EQ(Parse({}), 0);
  EXPECT_THAT(out_.str(), testing::AllOf(HasSubstr("Usage: prog"), HasSubstr("Lists")));
  EXPECT_EQ(Parse({"top"}), 0);
  EXPECT_THAT(out_.str(), testing::AllOf(HasSubstr("prog top"), HasSubstr("Of nodes")));
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(Parse({"help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("Usage: prog"));
  EXPECT_EQ(Parse({"help", "top"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("Of nodes"));
  EXPECT_THAT(Complaint({"help", "tpo"}), HasSubstr("no command tpo; did you mean \"top\"?"));
}

TEST_F(CommandLineTest, ACommandMayRefuseItsUsageAsAWhole) {
  std::string name;
  int runs = 0;
  Command submit = program_.AddCommand({.name = "submit", .about = ""});
  const Option option = submit.AddOption("--name", &name, "");
  submit.OnRun([option] { return option.given() ? "" : "--name is required"; },
               [&] { ++runs; });
  EXPECT_EQ(Complaint({"submit"}), "prog submit: --name is required\n"
                                   "Run `prog submit --help` for more information.\n");
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(Parse({"submit", "--name", "mnist"}), std::nullopt);
  EXPECT_EQ(runs, 1);
}

TEST_F(CommandLineTest, WhatACommandThrowsComesOut) {
  program_.AddCommand({.name = "bad", .about = ""}).OnRun([] { throw std::runtime_error("bad"); });
  EXPECT_THROW(Parse({"bad"}), std::runtime_error);
}

TEST_F(CommandLineTest, WhatWasDeclaredCanBeListed) {
  std::string job, output;
  bool all = false;
  Command list = program_.AddCommand({.name = "list", .about = "Lists jobs"});
  list.AddOption("JOB", &job, "which job");
  list.AddOption("-o,--output", &output, "format").OneOf({"json", "yaml"});
  list.AddFlag("-A,--all", &all, "all jobs");
  program_.AddCommand({.name = "shim", .about = ""}).Hide();

  const std::vector<Command> commands = program_.commands();
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].name(), "list");
  EXPECT_EQ(commands[0].about(), "Lists jobs");
  EXPECT_FALSE(commands[0].hidden());
  EXPECT_TRUE(commands[1].hidden());
  const std::vector<Option> options = commands[0].options();
  ASSERT_EQ(options.size(), 4u);  // The first is --help.
  EXPECT_EQ(options[1].positional_name(), "JOB");
  EXPECT_THAT(options[1].long_names(), IsEmpty());
  EXPECT_EQ(options[2].name(), "--output");
  EXPECT_EQ(options[2].about(), "format");
  EXPECT_EQ(options[2].positional_name(), "");
  EXPECT_THAT(options[2].short_names(), ElementsAre("o"));
  EXPECT_THAT(options[2].choices(), ElementsAre("json", "yaml"));
  EXPECT_TRUE(options[2].takes_value());
  EXPECT_THAT(options[3].long_names(), ElementsAre("all"));
  EXPECT_THAT(options[3].choices(), IsEmpty());
  EXPECT_FALSE(options[3].takes_value());
  EXPECT_TRUE(options[2] == list.options()[2]);
  EXPECT_FALSE(options[2] == options[3]);
}

TEST(CommandLine, WithoutANameAComplaintShowsTheNameItWasCalledByWithoutItsDirectory) {
  CommandLine program;
  const char* const argv[] = {"/bin/called", "--nope"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(program.Parse(2, argv), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "called: there is no option --nope\nRun `called --help` for more information.\n");
}

TEST(CommandLine, WithoutANameHelpShowsTheNameItWasCalledBy) {
  CommandLine program;
  const char* const argv[] = {"/bin/called", "--help"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(program.Parse(2, argv), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("Usage: /bin/called [OPTIONS]\n"));
}

}  // namespace
}  // namespace taas
