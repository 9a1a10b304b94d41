// The numbers in a tensor's bytes, whatever type they have: as floats, as int64, as bfloat16.
//
// A float64 that no float32 can hold becomes an infinity and an int64 above 2^24 is rounded, as
// everywhere; a number with a fraction is not made an integer.
//
// Ownership: borrows the bytes. Threads: any. Errors: InvalidArgument if the bytes do not fit the
// element count or the type has no such numbers (strings; fractions as int64).
//
//   std::vector<float> weights(784 * 500);
//   RETURN_IF_ERROR(ToFloats(ElementType::kBfloat16, bytes, weights));
//   const std::string half = ToBfloat16(weights);

#ifndef TRAINER_CHECKPOINT_ELEMENT_CONVERT_H_
#define TRAINER_CHECKPOINT_ELEMENT_CONVERT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "trainer/checkpoint/tensor.h"

namespace taas {

absl::Status ToFloats(ElementType type, std::string_view bytes, std::span<float> out);
absl::Status ToDoubles(ElementType type, std::string_view bytes, std::span<double> out);
// Of int8 to int64, uint8 and bool.
absl::Status ToInt64s(ElementType type, std::string_view bytes, std::span<int64_t> out);

// Rounded to the nearest, of two that are as near to the even one; NaN stays NaN.
std::string ToBfloat16(std::span<const float> values);

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_ELEMENT_CONVERT_H_
