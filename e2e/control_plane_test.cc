#include "e2e/control_plane.h"

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "e2e/process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using testing::HasSubstr;

std::string Log(const std::string& name) { return testing::TempDir() + "/" + name; }

TEST(ControlPlaneTest, WithoutTheProgramsItSaysWhoMakesThem) {
  ::unsetenv("TAAS_KUBERNETES_BIN");
  EXPECT_THAT(ControlPlane::Start(Log("plane")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("`make test`")));
}

TEST(ControlPlaneTest, AProgramThatIsMissingIsNamed) {
  ::setenv("TAAS_KUBERNETES_BIN", "/nonexistent", 1);
  EXPECT_THAT(ControlPlane::Start(Log("plane")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nonexistent/etcd")));
}

TEST(ProcessTest, OutputAndExitCodeAreTheProgramsOwn) {
  const auto output = RunProgram({.argv = {"/bin/sh", "-c", "echo out; echo $A >&2; exit 3"},
                                  .log = Log("sh.log"),
                                  .env = {"A=err"}});
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(output->exit_code, 3);
  EXPECT_EQ(output->text, "out\nerr\n");
}

TEST(ProcessTest, ASignalIs128AndItsNumber) {
  const auto process = Process::Start({.argv = {"/bin/sleep", "1000"}, .log = Log("sleep.log")});
  ASSERT_THAT(process, IsOk());
  EXPECT_EQ((*process)->ExitCode(), std::nullopt);
  EXPECT_THAT((*process)->Signal(SIGTERM), IsOk());
  EXPECT_EQ((*process)->Wait(std::chrono::seconds(60)).value(), 128 + SIGTERM);
}

TEST(ProcessTest, DestructionLeavesNoProcess) {
  auto process = Process::Start({.argv = {"/bin/sleep", "1000"}, .log = Log("sleep.log")});
  ASSERT_THAT(process, IsOk());
  const pid_t pid = (*process)->pid();
  process->reset();
  EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace
}  // namespace taas
