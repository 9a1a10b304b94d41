// A highway network (Srivastava et al. 2015): dense layers, each of which decides for every number
// how much of it is new and how much passes as it was.
//
// Ownership: borrows the chain. Threads: one at a time. Errors: the chain's.
//
//   RegisterModel({.name = "highway", .add = AddHighway, .fields = {"hidden"}});

#ifndef EXAMPLES_OWN_MODEL_HIGHWAY_H_
#define EXAMPLES_OWN_MODEL_HIGHWAY_H_

#include "trainer/model/model.h"

namespace taas::examples {

// `spec.hidden` are the sizes of its parts, each a dense layer and two highway layers.
void AddHighway(const ModelSpec& spec, Chain* chain);

}  // namespace taas::examples

#endif  // EXAMPLES_OWN_MODEL_HIGHWAY_H_
