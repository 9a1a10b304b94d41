// Numbers that people wrote.
//
// Ownership: views of the text that was given. Threads: any. Errors: InvalidArgument that shows the
// beginning of the text.
//
//   ASSIGN_OR_RETURN(const double number, ParseNumber(" +1.5e3 "));

#ifndef TRAINER_DATA_NUMBER_TEXT_H_
#define TRAINER_DATA_NUMBER_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

// Without blanks and tabs at its ends.
std::string_view Trim(std::string_view text);

// The beginning of a text, in quotes, for messages.
std::string Shown(std::string_view text);

// A decimal number, with blanks around it; nan and inf are none.
absl::StatusOr<double> ParseNumber(std::string_view text);
// A decimal number without a fraction ("7", " +7.0", "7e3").
absl::StatusOr<int64_t> ParseWhole(std::string_view text);

}  // namespace taas

#endif  // TRAINER_DATA_NUMBER_TEXT_H_
