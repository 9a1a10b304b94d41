// Looks for numbers that are none.
//
// Ownership: none. Threads: any. Errors: none. About as fast as memory.
//
//   const std::string bad = FirstNonFinite(values);   // "element 7 is NaN"

#ifndef TRAINER_GRAPH_FINITE_H_
#define TRAINER_GRAPH_FINITE_H_

#include <span>
#include <string>

namespace taas {

// The first element that is NaN or infinite, in words; "" if all are finite.
std::string FirstNonFinite(std::span<const float> values);

}  // namespace taas

#endif  // TRAINER_GRAPH_FINITE_H_
