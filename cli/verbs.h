// The verbs that speak to any cluster, and those that need none: one function each.
//
// Every verb takes jobs of both kinds. `io` and `exit_code` outlive the app.
//
// Ownership: flags belong to the app. Threads: one; a verb returns when it is done. Errors: a
// sentence on io.err and an exit code (exit_code.h).
//
//   CLI::App app("…", "taas");
//   AddListCommand(app, io, &exit_code);

#ifndef CLI_VERBS_H_
#define CLI_VERBS_H_

#include "cli/command.h"

namespace taas {

void AddConvertCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddDeleteCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddDescribeCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddDoctorCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddGetCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddListCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddLogsCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddScaleCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddSubmitCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddSuspendCommands(CLI::App& app, const CommandIo& io, int* exit_code);  // suspend, resume
void AddTopCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddValidateCommand(CLI::App& app, const CommandIo& io, int* exit_code);
void AddWaitCommand(CLI::App& app, const CommandIo& io, int* exit_code);

}  // namespace taas

#endif  // CLI_VERBS_H_
