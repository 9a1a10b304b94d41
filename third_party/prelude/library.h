// What most files of this tree begin with, compiled once (see BUILD). Only headers of /usr, which
// change with their packages: one of ours would have everything compiled anew whenever it changes.
//
// Nothing may rely on it: a file includes what it uses, which //tools/tidy checks.

#ifndef THIRD_PARTY_PRELUDE_LIBRARY_H_
#define THIRD_PARTY_PRELUDE_LIBRARY_H_

// For these flags there is nothing compiled, and a file does better with what it includes itself.
#if !defined(NDEBUG) && !defined(__OPTIMIZE_SIZE__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#endif

#endif  // THIRD_PARTY_PRELUDE_LIBRARY_H_
