// What a trained model is used for: `taas-trainer export`, `eval`, `predict`
// and `generate`.
//
// Ownership: none. Threads: one. Errors: printed to stderr; the result is the exit code: 0, 1 (it
// failed), 2 (wrong usage).
//
//   return RunUseCommand(argc - 1, argv + 1, Env);

#ifndef TRAINER_CMD_USE_COMMANDS_H_
#define TRAINER_CMD_USE_COMMANDS_H_

#include "trainer/config/trainer_config.h"

namespace taas {

// `argv[0]` is export, eval, predict or generate.
int RunUseCommand(int argc, char** argv, const GetEnv& env);

}  // namespace taas

#endif  // TRAINER_CMD_USE_COMMANDS_H_
