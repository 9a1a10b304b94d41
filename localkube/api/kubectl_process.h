// Real kubectl, for tests of what answers it.
//
// Ownership: owns the process, which is killed if it still runs at the end. Threads: one. Errors:
// fail the test.
//
//   ASSERT_NO_FATAL_FAILURE(Kubectl::Find(&program));
//   int code = 0;
//   Kubectl kubectl(program, home, kubeconfig, {"get", "pods"});
//   EXPECT_THAT(kubectl.Finish(&code), HasSubstr("No resources found"));

#ifndef LOCALKUBE_API_KUBECTL_PROCESS_H_
#define LOCALKUBE_API_KUBECTL_PROCESS_H_

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace taas::localkube {

class Kubectl {
 public:
  // The kubectl that set-up has built. A test without it fails.
  static void Find(std::string* program) {
    const char* bin = getenv("TAAS_KUBERNETES_BIN");
    ASSERT_NE(bin, nullptr) << "TAAS_KUBERNETES_BIN is not set: it names the directory with "
                               "kubectl; `make test` builds it and passes it on";
    *program = std::string(bin) + "/kubectl";
    ASSERT_EQ(access(program->c_str(), X_OK), 0) << *program << " cannot be run";
  }

  Kubectl(const std::string& program, const std::string& home, const std::string& kubeconfig,
          const std::vector<std::string>& arguments) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], 1);
      dup2(ends[1], 2);
      setenv("HOME", home.c_str(), 1);
      setenv("KUBECONFIG", kubeconfig.c_str(), 1);
      // It is over before Go's collector is of use: a fifth less work.
      setenv("GOGC", "off", 1);
      std::vector<char*> argv = {const_cast<char*>(program.c_str())};
      for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
      }
      argv.push_back(nullptr);
      execv(program.c_str(), argv.data());
      _exit(127);
    }
    close(ends[1]);
    out_ = ends[0];
  }
  ~Kubectl() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      Finish();
    }
    close(out_);
  }

  // Output until `text` stands in it, or all of it.
  std::string ReadUntil(const std::string& text) {
    char buffer[4096];
    while (seen_.find(text) == std::string::npos) {
      const ssize_t count = read(out_, buffer, sizeof buffer);
      if (count <= 0) break;
      seen_.append(buffer, static_cast<size_t>(count));
    }
    return seen_;
  }
  // All the output; `*code` gets the exit code.
  std::string Finish(int* code = nullptr) {
    ReadUntil(std::string(1, '\0'));
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    if (code != nullptr) *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return seen_;
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  std::string seen_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_KUBECTL_PROCESS_H_
