// `taas`, also installed as `kubectl-taas`: jobs on any cluster, and the cluster on this machine.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/local/claim_folder.h"
#include "cli/local/local_commands.h"
#include "cli/taas_app.h"
#include "operator/base/log.h"

#ifdef __SANITIZE_ADDRESS__
// Of the last reply cpprestsdk still has tasks in the queue of its threads, which the end of the
// process drops: as much whether a command made one request or a hundred.
extern "C" const char* __lsan_default_suppressions() { return "leak:libcpprest.so\nleak:pplx::\n"; }
#endif

namespace {

// `taas data …` is `taas-trainer data …`, of the program beside this one: the readers are its own.
bool IsForTrainer(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "data") == 0) return true;
  return argc > 2 && std::strcmp(argv[1], "help") == 0 && std::strcmp(argv[2], "data") == 0;
}

int RunTrainer(char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "taas-trainer").string();
  argv[0] = const_cast<char*>(program.c_str());
  execv(program.c_str(), argv);
  std::cerr << "taas: run " << program << ": " << std::strerror(errno)
            << "; it is installed beside taas\n";
  return taas::kExitFailed;
}

// kubectl asks the program kubectl_complete-taas, which is a link to this one, as it asks its own
// plugins: words of the command line in, one offer a line out, and a number that ends the list.
bool IsKubectlCompletion(const std::string& program) {
  return program.substr(program.rfind('/') + 1) == "kubectl_complete-taas";
}
constexpr char kNoFileNames[] = ":4\n";

}  // namespace

int main(int argc, char** argv) {
  if (IsForTrainer(argc, argv)) return RunTrainer(argv);
  const bool for_kubectl = IsKubectlCompletion(argv[0]);
  const bool is_local = argc > 1 && (std::strcmp(argv[1], "local") == 0 ||
                                     std::strcmp(argv[1], "shim") == 0);
  // A command prints its own errors; lost connections that were mended are no news.
  if (!is_local) taas::SetLogLevel(taas::LogLevel::kError);
  const taas::CommandIo io{
      .out = std::cout,
      .err = std::cerr,
      .env = taas::ProcessEnv,
      .color = isatty(STDOUT_FILENO) == 1 && !taas::ProcessEnv("NO_COLOR").has_value(),
      .claim_folder = taas::LocalClaimFolder};
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!for_kubectl) return taas::RunTaas(std::move(arguments), io, taas::AddLocalCommands);
  arguments.insert(arguments.begin(), "__complete");
  const int exit_code = taas::RunTaas(std::move(arguments), io, taas::AddLocalCommands);
  std::cout << kNoFileNames;
  return exit_code;
}
