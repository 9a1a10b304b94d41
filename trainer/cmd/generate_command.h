// `taas-trainer generate`: text of a trained model, as it comes.
//
// Text goes to standard output token by token; where that is a terminal, as it can be shown there
// (shown_text.h), else as the bytes that the model gave. Each text ends with a line's end. As JSON
// each is one line, when it is complete.
//
// Ownership: borrows all. Threads: one. Errors: those of generate.h; InvalidArgument naming a flag.
//
//   AddGenerateOptions(app, &flags);
//   RETURN_IF_ERROR(PrintTexts(flags, files, trained));

#ifndef TRAINER_CMD_GENERATE_COMMAND_H_
#define TRAINER_CMD_GENERATE_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "operator/base/command_line.h"
#include "operator/base/file_system.h"
#include "trainer/use/generate.h"
#include "trainer/use/trained_model.h"

namespace taas {

struct GenerateFlags {
  std::optional<std::string> prompt, input;
  std::string output = "text";
  GenerateOptions options;
  int64_t seed = 0;
  int64_t count = 1;
};

void AddGenerateOptions(Command& app, GenerateFlags* flags);
// "" where nothing is.
std::string WhatIsMissing(const GenerateFlags& flags);

// `count` texts, of which the i-th, from 0, is the one of seed + i.
absl::Status PrintTexts(const GenerateFlags& flags, FileSystem& files, TrainedModel& trained);

}  // namespace taas

#endif  // TRAINER_CMD_GENERATE_COMMAND_H_
