// `taas-operator dashboard`: the web page of a cluster as a program of its own.
//
// Ownership: `exit_code` outlives the app. Threads: one; the verb makes threads and ends them.
// Errors: a sentence on stderr and exit code 1; bad flags end with 2.
//
//   AddDashboardCommand(app, &exit_code);

#ifndef OPERATOR_CMD_DASHBOARD_COMMAND_H_
#define OPERATOR_CMD_DASHBOARD_COMMAND_H_

namespace taas {

class Command;

void AddDashboardCommand(Command& app, int* exit_code);

}  // namespace taas

#endif  // OPERATOR_CMD_DASHBOARD_COMMAND_H_
