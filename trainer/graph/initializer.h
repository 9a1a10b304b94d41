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

// The values depend on all four arguments and on nothing else.
void FillInitialValues(const Initializer& initializer, std::string_view name, uint64_t seed,
                       std::span<float> values);

}  // namespace taas

#endif  // TRAINER_GRAPH_INITIALIZER_H_
