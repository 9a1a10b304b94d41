// The verbs `taas local up|down|status|ci`, and the hidden verb `taas shim DIR` that runs
// containers.
//
// Ownership: `exit_code` outlives the app. Threads: one; the verbs make threads and end them.
// Errors: a sentence on stderr and an exit code: 0 ok, 1 failed, 2 usage, 3 not found, 4 timed out.
//
//   CommandLine app({.name = "taas", .about = "…"});
//   AddLocalCommands(app, &exit_code);
//   return app.Parse(argc, argv).value_or(exit_code);

#ifndef CLI_LOCAL_LOCAL_COMMANDS_H_
#define CLI_LOCAL_LOCAL_COMMANDS_H_

namespace taas {

class Command;

void AddLocalCommands(Command& app, int* exit_code);

}  // namespace taas

#endif  // CLI_LOCAL_LOCAL_COMMANDS_H_
