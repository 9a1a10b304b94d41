#include "operator/cmd/arguments.h"

#include "gtest/gtest.h"
#include "operator/base/command_line.h"

namespace taas {
namespace {

TEST(SplitEmptyValues, GivesAnEmptyValueToTheFlag) {
  const char* const argv[] = {"taas-operator", "--health-addr=", "--metrics-addr=[::]:9090",
                              "--adopt"};
  const std::vector<std::string> arguments =
      SplitEmptyValues(4, argv, {"--health-addr", "--metrics-addr"});
  std::string health = "127.0.0.1:8081";
  std::string metrics;
  bool adopt = false;
  CommandLine app;
  app.AddOption("--health-addr", &health, "");
  app.AddOption("--metrics-addr", &metrics, "");
  app.AddFlag("--adopt", &adopt, "");
  EXPECT_EQ(app.Parse(arguments), std::nullopt);
  EXPECT_EQ(health, "");
  EXPECT_EQ(metrics, "[::]:9090");
  EXPECT_TRUE(adopt);
}

TEST(SplitEmptyValues, LeavesOtherArgumentsAsTheyAre) {
  // `--namespaces=` must not become "all namespaces" because a variable was not set.
  const char* const argv[] = {"taas-operator", "--namespaces=", "--health-addr=:80", "--adopt=",
                              ""};
  EXPECT_EQ(SplitEmptyValues(5, argv, {"--health-addr"}),
            (std::vector<std::string>{"--namespaces=", "--health-addr=:80", "--adopt=", ""}));
}

}  // namespace
}  // namespace taas
