// Fills a variable with its start values.
//
// Ownership: none. Threads: any. Errors: none.
//
//   FillInitialValues(Initializer::TruncatedNormal(0.03), "hidden1/weights", seed, span);

#ifndef TRAINER_GRAPH_INITIALIZER_H_
#define TRAINER_GRAPH_INITIALIZER_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "trainer/graph/graph.h"

namespace taas {

// FNV-1a: the same on every machine, so that each name has a stream of random numbers of its own.
uint64_t StableHash(std::string_view text);

// The values depend on all four arguments and on nothing else.
void FillInitialValues(const Initializer& initializer, std::string_view name, uint64_t seed,
                       std::span<float> values);

}  // namespace taas

#endif  // TRAINER_GRAPH_INITIALIZER_H_
