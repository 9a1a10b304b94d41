// An error of spec.trainer in words of the command line: who wrote --train_steps=0 is not told of
// maxSteps.
//
// Ownership: values. Threads: any. Errors: none.
//
//   InFlagWords(flags, env, "maxSteps: is required");  // "--train_steps: is required"

#ifndef TRAINER_CMD_FLAG_NAMES_H_
#define TRAINER_CMD_FLAG_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "trainer/cmd/flags.h"

namespace taas {

// Nothing: the error is of no flag, but of --config or TAAS_TRAINER.
std::optional<std::string> InFlagWords(const Flags& flags, const GetEnv& env,
                                       std::string_view error);

}  // namespace taas

#endif  // TRAINER_CMD_FLAG_NAMES_H_
