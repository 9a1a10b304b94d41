// The program `taas` without its process: arguments in, text and an exit code out.
//
// Ownership: none is taken. Threads: one. Errors: exit codes, exit_code.h.
//
//   return RunTaas({"list", "-A"}, io, AddLocalCommands);

#ifndef CLI_TAAS_APP_H_
#define CLI_TAAS_APP_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace taas {

// Adds verbs that this library does not link.
using MoreCommands = std::function<void(Command& app, int* exit_code)>;

// All verbs and flags. `app` is fresh; `io` and `exit_code` outlive it.
void AddVerbs(Command& app, const CommandIo& io, const MoreCommands& more, int* exit_code);

int RunTaas(std::vector<std::string> arguments, const CommandIo& io, const MoreCommands& more);

}  // namespace taas

#endif  // CLI_TAAS_APP_H_
