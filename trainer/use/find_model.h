// That there is a model where somebody looks for one, before anything else is read; if there is
// none, where the nearest is: who names a directory is mostly one level off.
//
// Ownership: values. Threads: any; the calls wait for the disk. Errors: NotFound: "no checkpoint in
// nowhere/gpt2: there is no such directory; the nearest is in gpt2-out/gpt2".
//
//   RETURN_IF_ERROR(CheckThereIsAModel(files, "gpt2-out/gpt2"));

#ifndef TRAINER_USE_FIND_MODEL_H_
#define TRAINER_USE_FIND_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "operator/base/file_system.h"

namespace taas {

// `path`: as --checkpoint takes it. Whether the files are undamaged shows when they are read.
absl::Status CheckThereIsAModel(FileSystem& files, const std::string& path);

}  // namespace taas

#endif  // TRAINER_USE_FIND_MODEL_H_
