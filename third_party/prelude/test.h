// What most tests begin with, compiled once; as library.h.

#ifndef THIRD_PARTY_PRELUDE_TEST_H_
#define THIRD_PARTY_PRELUDE_TEST_H_

#include "third_party/prelude/library.h"

#if !defined(NDEBUG) && !defined(__OPTIMIZE_SIZE__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#endif

#endif  // THIRD_PARTY_PRELUDE_TEST_H_
