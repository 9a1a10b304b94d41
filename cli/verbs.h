// The verbs that speak to any cluster, and those that need none: one function each.
//
// Every verb takes jobs of both kinds. `io` and `exit_code` outlive the app.
//
// Ownership: flags belong to the app. Threads: one; a verb returns when it is done. Errors: a
// sentence on io.err and an exit code (exit_code.h).
//
//   CommandLine app({.name = "taas", .about = "…"});
//   AddListCommand(app, io, &exit_code);

#ifndef CLI_VERBS_H_
#define CLI_VERBS_H_

#include "cli/command.h"

namespace taas {

void AddConvertCommand(Command& app, const CommandIo& io, int* exit_code);
void AddDeleteCommand(Command& app, const CommandIo& io, int* exit_code);
void AddDescribeCommand(Command& app, const CommandIo& io, int* exit_code);
void AddDoctorCommand(Command& app, const CommandIo& io, int* exit_code);
void AddGetCommand(Command& app, const CommandIo& io, int* exit_code);
void AddListCommand(Command& app, const CommandIo& io, int* exit_code);
void AddLogsCommand(Command& app, const CommandIo& io, int* exit_code);
void AddScaleCommand(Command& app, const CommandIo& io, int* exit_code);
void AddSubmitCommand(Command& app, const CommandIo& io, int* exit_code);
void AddSuspendCommands(Command& app, const CommandIo& io, int* exit_code);  // suspend, resume
void AddTopCommand(Command& app, const CommandIo& io, int* exit_code);
void AddUseCommands(Command& app, const CommandIo& io, int* exit_code);  // eval, predict, export
void AddValidateCommand(Command& app, const CommandIo& io, int* exit_code);
void AddWaitCommand(Command& app, const CommandIo& io, int* exit_code);

}  // namespace taas

#endif  // CLI_VERBS_H_
