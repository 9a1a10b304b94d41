// Compares the gradients of a session with differences of its loss.
//
// Every element of every trainable variable (at most a hundred of each, spread over it) is moved
// a little to both sides; the slope of a polynomial through four losses has an error far below
// the tolerance.
//
// Ownership: none; variables are as before afterwards. Threads: the session's. Errors: test
// failures.
//
//   CheckGradients(session.get());

#ifndef TRAINER_GRAPH_GRADIENT_CHECK_H_
#define TRAINER_GRAPH_GRADIENT_CHECK_H_

#include "trainer/graph/session.h"

namespace taas {

// Inputs are filled and variables have values at which the loss is smooth.
void CheckGradients(Session* session);

}  // namespace taas

#endif  // TRAINER_GRAPH_GRADIENT_CHECK_H_
