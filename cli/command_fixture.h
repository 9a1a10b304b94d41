// `taas` run in this process, against a server of the test: what its tests share.
//
// Ownership: a test's own server is a member of its class, so that it ends before what it answers
// with. Threads: one. Errors: what cannot be written fails the test.
//
//   class MyTest : public CommandFixture {
//     MyTest() : CommandFixture("my") { UseServer(server_.url()); }

#ifndef CLI_COMMAND_FIXTURE_H_
#define CLI_COMMAND_FIXTURE_H_

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/taas_app.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas {

class CommandFixture : public testing::Test {
 protected:
  // `folder`: below the test's temporary one.
  explicit CommandFixture(const std::string& folder)
      : dir_(std::string(std::getenv("TEST_TMPDIR")) + "/" + folder) {
    EXPECT_THAT(files_.MakeDirs(dir_), IsOk());
  }

  // Of a kubeconfig whose context has the namespace `team`.
  void UseServer(const std::string& url) {
    Write("config",
          "current-context: c\n"
          "contexts: [{name: c, context: {cluster: c, namespace: team}}]\n"
          "clusters: [{name: c, cluster: {server: \"" +
              url + "\"}}]\n");
  }
  // Its path.
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_THAT(files_.WriteAtomically(dir_ + "/" + name, text), IsOk());
    return dir_ + "/" + name;
  }
  // The exit code; out_ and err_ have what this run has printed.
  int Run(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    return RunTaas(std::move(arguments), io_, nullptr);
  }
  // As a server lists objects, which are given with commas between.
  static std::string List(const std::string& items) {
    return R"({"metadata":{"resourceVersion":"9"},"items":[)" + items + "]}";
  }

  const std::string dir_;
  PosixFileSystem files_;
  std::ostringstream out_, err_;
  CommandIo io_{.out = out_, .err = err_, .env = [this](const std::string& name) {
                  return name == "KUBECONFIG" ? std::optional<std::string>(dir_ + "/config")
                                              : std::nullopt;
                }};
};

}  // namespace taas

#endif  // CLI_COMMAND_FIXTURE_H_
