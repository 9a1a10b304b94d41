// docs/cli.md and the program have the same verbs and flags.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "cli/local/local_commands.h"
#include "cli/taas_app.h"
#include "gtest/gtest.h"
#include "operator/base/command_line.h"

namespace taas {
namespace {

using Flags = std::map<std::string, std::set<std::string>>;  // By verb: "taas top node".

// What each verb that asks a cluster has; said once in the page's introduction.
const std::set<std::string> kOfEveryVerb = {"--help", "--kubeconfig", "--context", "--namespace"};

void Collect(const Command& app, const std::string& path, Flags* flags) {
  bool has_verbs = false;
  for (const Command& verb : app.commands()) {
    if (verb.hidden()) continue;
    has_verbs = true;
    Collect(verb, path + " " + verb.name(), flags);
  }
  if (has_verbs) return;
  std::set<std::string>& own = (*flags)[path];
  for (const Option& option : app.options()) {
    for (const std::string& name : option.long_names()) {
      if (kOfEveryVerb.count("--" + name) == 0) own.insert("--" + name);
    }
  }
}

Flags OfTheProgram() {
  std::ostringstream text;
  const CommandIo io{.out = text, .err = text, .env = nullptr};
  int exit_code = 0;
  CommandLine app({.name = "taas", .about = ""});
  AddVerbs(app, io, AddLocalCommands, &exit_code);
  Flags flags;
  Collect(app, "taas", &flags);
  return flags;
}

// Flags in `code`, but for what stands behind a lone "--", which is the user's own program's.
std::set<std::string> FlagsIn(const std::string& text) {
  std::set<std::string> flags;
  bool own = false;
  std::string word;
  for (const char c : text + "\n") {
    const bool in_word = c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (in_word) {
      word += c;
      continue;
    }
    if (word == "--" && c == ' ') own = true;
    if (!own && word.size() > 2 && word.compare(0, 2, "--") == 0 && word[2] != '-') {
      flags.insert(word);
    }
    if (c == '\n') own = false;
    word.clear();
  }
  return flags;
}

Flags OfThePage() {
  std::ifstream file("docs/cli.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Flags flags;
  size_t at = page.find("\n## ");
  while (at != std::string::npos) {
    const size_t begin = at + 4;
    const size_t end = page.find('\n', begin);
    at = page.find("\n## ", end);
    flags[page.substr(begin, end - begin)] = FlagsIn(page.substr(end, at - end));
  }
  return flags;
}

TEST(CliDocsTest, EveryVerbHasASectionWithItsFlagsAndNoOthers) {
  const Flags program = OfTheProgram();
  const Flags page = OfThePage();
  ASSERT_FALSE(page.empty()) << "docs/cli.md was not read";
  for (const auto& [verb, flags] : program) {
    const auto section = page.find(verb);
    if (section == page.end()) {
      ADD_FAILURE() << "docs/cli.md has no section \"## " << verb << "\"";
      continue;
    }
    for (const std::string& flag : flags) {
      EXPECT_EQ(section->second.count(flag), 1u) << "## " << verb << " does not name " << flag;
    }
    for (const std::string& flag : section->second) {
      EXPECT_TRUE(flags.count(flag) == 1 || kOfEveryVerb.count(flag) == 1)
          << "## " << verb << " names " << flag << ", which is not there";
    }
  }
  for (const auto& [verb, flags] : page) {
    EXPECT_EQ(program.count(verb), 1u) << "docs/cli.md describes \"" << verb << "\"";
  }
}

TEST(CliDocsTest, EveryFlagSaysWhatItIsFor) {
  std::ostringstream text;
  const CommandIo io{.out = text, .err = text, .env = nullptr};
  int exit_code = 0;
  CommandLine app({.name = "taas", .about = ""});
  AddVerbs(app, io, nullptr, &exit_code);
  for (const Command& verb : app.commands()) {
    EXPECT_NE(verb.about(), "") << verb.name();
    for (const Option& option : verb.options()) {
      EXPECT_NE(option.about(), "") << verb.name() << " " << option.name();
    }
  }
}

}  // namespace
}  // namespace taas
