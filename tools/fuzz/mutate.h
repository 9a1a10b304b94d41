// Changes an input as damage and attackers do: bits, numbers at the edges of their types, pieces
// left out, doubled, put in or taken from another input.
//
// Ownership: values. Threads: those of the Random. Errors: none.
//
//   const std::string input = Mutate(corpus, random);

#ifndef TOOLS_FUZZ_MUTATE_H_
#define TOOLS_FUZZ_MUTATE_H_

#include <cstddef>
#include <span>
#include <string>

#include "operator/base/random.h"

namespace taas {

// Longer ones take time and find no more.
inline constexpr size_t kFuzzBytesMax = 64 << 10;

// `corpus` is not empty.
std::string Mutate(std::span<const std::string> corpus, Random& random);

}  // namespace taas

#endif  // TOOLS_FUZZ_MUTATE_H_
