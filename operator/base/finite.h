// Looks for numbers that are none.
//
// Ownership: none. Threads: any. Errors: none. About as fast as memory.
//
//   const std::string bad = FirstNonFinite(values);   // "element 7 is NaN"

#ifndef OPERATOR_BASE_FINITE_H_
#define OPERATOR_BASE_FINITE_H_

#include <cstddef>
#include <span>
#include <string>

namespace taas {

// The place of the first element that is NaN or infinite; values.size() if all are finite.
size_t FindNonFinite(std::span<const float> values);
// The same in words; "" if all are finite.
std::string FirstNonFinite(std::span<const float> values);

}  // namespace taas

#endif  // OPERATOR_BASE_FINITE_H_
