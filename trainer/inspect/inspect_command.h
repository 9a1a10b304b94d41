// `taas-trainer inspect`: shows what files hold.
//
// Ownership: none. Threads: one. Errors: printed to stderr; the result is the exit code: 0, 1
// (a file cannot be read or is damaged), 2 (wrong usage).
//
//   return RunInspectCommand(argc - 1, argv + 1);

#ifndef TRAINER_INSPECT_INSPECT_COMMAND_H_
#define TRAINER_INSPECT_INSPECT_COMMAND_H_

namespace taas {

// `argv[0]` is "inspect".
int RunInspectCommand(int argc, char** argv);

}  // namespace taas

#endif  // TRAINER_INSPECT_INSPECT_COMMAND_H_
