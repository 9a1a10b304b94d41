// Another test set in the place of a configuration's.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the flag that is missing or too
// much, or the format that has no files.
//
//   ASSIGN_OR_RETURN(config.data, WithTestFiles(config.data, {.input = "held-out.txt"}));

#ifndef TRAINER_USE_TEST_DATA_H_
#define TRAINER_USE_TEST_DATA_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

// Paths, or patterns where the format takes such.
struct TestFiles {
  std::string input;   // Examples; with their labels where the format has both in one file.
  std::string labels;  // Of idx and raw.
};

// `data`: an object spec.trainer.data. Its training set stays: what there is to predict may follow
// from it.
absl::StatusOr<std::string> WithTestFiles(std::string_view data, const TestFiles& test);

}  // namespace taas

#endif  // TRAINER_USE_TEST_DATA_H_
