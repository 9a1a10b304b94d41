// A hash that is the same on every machine and in every release, unlike the standard library's.
// It guards against mistakes, not against enemies.
//
// Source: FNV-1a of 64 bits, by Fowler, Noll and Vo.
//
// Ownership: none. Threads: any. Errors: none.
//
//   SeededRandom random(seed ^ StableHash("hidden1/weights"));

#ifndef OPERATOR_BASE_HASH_H_
#define OPERATOR_BASE_HASH_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace taas {

uint64_t StableHash(std::string_view text);

// Its sixteen digits, or those of a number that was drawn.
std::string HexOf(uint64_t number);

}  // namespace taas

#endif  // OPERATOR_BASE_HASH_H_
