// What is wrong with a job that flags of `taas submit` describe, in words of those flags: who wrote
// `--steps` is not told of spec.trainer.maxSteps.
//
// Ownership: values. Threads: any. Errors: none.
//
//   FlagOf("spec.trainer.maxSteps");  // "--steps"

#ifndef CLI_SUBMIT_FLAG_NAMES_H_
#define CLI_SUBMIT_FLAG_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/field_error.h"

namespace taas {

// The flag that sets the field at this path, or one above it; empty: none does but --set.
std::string FlagOf(std::string_view path);

// One line for each error.
std::string FormatFlagErrors(const std::vector<FieldError>& errors);

}  // namespace taas

#endif  // CLI_SUBMIT_FLAG_NAMES_H_
