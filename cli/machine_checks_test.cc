#include "cli/machine_checks.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::HasSubstr;

Finding Find(const std::vector<Finding>& findings, const std::string& check) {
  for (const Finding& finding : findings) {
    if (finding.check == check) return finding;
  }
  return {Finding::Level::kFail, "", "not looked at", ""};
}

TEST(MachineChecksTest, AMachineWithEverythingIsAllOk) {
  const Machine machine{.dir = std::string(std::getenv("TEST_TMPDIR")) + "/not/made/yet",
                        .trainer = "/bin/true",
                        .bubblewrap = "/bin/true"};
  for (const Finding& finding : CheckMachine(machine)) {
    EXPECT_EQ(finding.level, Finding::Level::kOk) << FormatFindings({finding});
    EXPECT_EQ(finding.todo, "");
  }
}

TEST(MachineChecksTest, WhatIsMissingIsAWarningWithWhatToDo) {
  const auto findings = CheckMachine(
      {.dir = "/proc/nowhere", .trainer = "/no/trainer", .bubblewrap = "/no/bwrap"});
  for (const char* check : {"trainer", "bubblewrap", "disk"}) {
    const Finding finding = Find(findings, check);
    EXPECT_EQ(finding.level, Finding::Level::kWarn) << check << " " << finding.text;
    EXPECT_NE(finding.todo, "") << check;
  }
  EXPECT_THAT(Find(findings, "trainer").text, HasSubstr("/no/trainer"));
}

TEST(MachineChecksTest, ABubblewrapThatIsRefusedIsNotOne) {
  const auto findings =
      CheckMachine({.dir = "/", .trainer = "/bin/true", .bubblewrap = "/bin/false"});
  EXPECT_THAT(Find(findings, "bubblewrap").text, HasSubstr("refuses private mounts"));
}

}  // namespace
}  // namespace taas
