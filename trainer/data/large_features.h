// Features whose numbers are so large that a training at usual learning rates goes astray on them.
//
// Models begin with weights for inputs around 1: beside a column of incomes in dollars every other
// counts for nothing, and the first steps jump.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const std::string advice = AdviceOnLargeFeatures(data.train);   // "": there is none

#ifndef TRAINER_DATA_LARGE_FEATURES_H_
#define TRAINER_DATA_LARGE_FEATURES_H_

#include <string>

#include "trainer/data/dataset.h"

namespace taas {

// Of the first thousand examples of a set whose features are floats; which are too large, and the
// `normalise` that gives each a mean of 0 and a deviation of 1. Empty: none is.
std::string AdviceOnLargeFeatures(const Dataset& set);

}  // namespace taas

#endif  // TRAINER_DATA_LARGE_FEATURES_H_
