#include "cli/completion.h"

#include <sstream>

#include "cli/taas_app.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/command_line.h"

namespace taas {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class CompletionTest : public testing::Test {
 protected:
  CompletionTest() { AddVerbs(app_, io_, nullptr, &exit_code_); }
  std::vector<std::string> Complete(const std::vector<std::string>& words) {
    return Completions(app_, words, [this](NameKind kind, const ClusterFlags& cluster) {
      asked_ = cluster;
      if (kind == NameKind::kNamespace) return std::vector<std::string>{"default", "team"};
      if (kind == NameKind::kNode) return std::vector<std::string>{"node-1"};
      return std::vector<std::string>{"mnist", "mlp", "other"};
    });
  }

  std::ostringstream out_;
  const CommandIo io_{.out = out_, .err = out_, .env = nullptr};
  int exit_code_ = 0;
  CommandLine app_{{.name = "taas", .about = ""}};
  ClusterFlags asked_;
};

TEST_F(CompletionTest, VerbsAreOffered) {
  EXPECT_THAT(Complete({"s"}), ElementsAre("scale", "submit", "suspend"));
  EXPECT_THAT(Complete({""}), AllOf(Contains("list"), Contains("doctor")));
  EXPECT_THAT(Complete({"top", ""}), ElementsAre("job", "node", "pod"));
}

TEST_F(CompletionTest, FlagsOfTheVerbAreOffered) {
  EXPECT_THAT(Complete({"logs", "mnist", "--fo"}), ElementsAre("--follow"));
  EXPECT_THAT(Complete({"logs", "--"}), Not(Contains("--replicas")));
}

TEST_F(CompletionTest, ValuesOfAFlagAreOffered) {
  EXPECT_THAT(Complete({"list", "-o", ""}), ElementsAre("json", "name", "table", "wide", "yaml"));
  EXPECT_THAT(Complete({"wait", "--for", "S"}), ElementsAre("Succeeded", "Suspended"));
  EXPECT_THAT(Complete({"list", "-n", "t"}), ElementsAre("team"));
  EXPECT_THAT(Complete({"submit", "--name", ""}), IsEmpty());
}

TEST_F(CompletionTest, JobsComeFromTheClusterThatTheWordsName) {
  EXPECT_THAT(Complete({"logs", "-n", "team", "--context", "c", "m"}),
              ElementsAre("mlp", "mnist"));
  EXPECT_EQ(asked_.ns, "team");
  EXPECT_EQ(asked_.context, "c");
  EXPECT_THAT(Complete({"top", "node", ""}), ElementsAre("node-1"));
}

TEST_F(CompletionTest, WhatFollowsTheDashesIsTheUsersOwn) {
  EXPECT_THAT(Complete({"submit", "--name", "a", "--", "--w"}), IsEmpty());
}

TEST_F(CompletionTest, EachShellHasAScriptThatAsksThisProgram) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_NE(CompletionScript(shell).find("__complete"), std::string::npos) << shell;
    EXPECT_NE(CompletionScript(shell).find(shell), std::string::npos) << shell;
  }
}

}  // namespace
}  // namespace taas
