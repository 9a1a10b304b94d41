// The verbs that speak to any cluster: list, logs, wait; and validate, which needs none.
//
// Ownership: `io` and `exit_code` outlive the app. Threads: one; a verb returns when it is done.
// Errors: a sentence on io.err and an exit code (exit_code.h).
//
//   CLI::App app("…", "taas");
//   AddJobCommands(app, io, &exit_code);

#ifndef CLI_JOB_COMMANDS_H_
#define CLI_JOB_COMMANDS_H_

#include <iosfwd>

#include "operator/kube/kubeconfig.h"

namespace CLI {
class App;
}  // namespace CLI

namespace taas {

struct CommandIo {
  std::ostream& out;   // Data.
  std::ostream& err;   // Everything else.
  Getenv env;
  bool color = false;  // `out` is a terminal and $NO_COLOR is not set.
};

void AddJobCommands(CLI::App& app, const CommandIo& io, int* exit_code);

}  // namespace taas

#endif  // CLI_JOB_COMMANDS_H_
