// Memory for as many bytes as a file promises, which may be more than there are.
//
// Ownership: the caller's container. Threads: any. Errors: false, and the container as it was.
//
//   if (!TakeMemory(size, &bytes)) return NoMemory("read " + path, size);

#ifndef TRAINER_FORMATS_TAKE_MEMORY_H_
#define TRAINER_FORMATS_TAKE_MEMORY_H_

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"

namespace taas {

// `bytes` has `size` of them, zeroes.
template <typename Bytes>
bool TakeMemory(uint64_t size, Bytes* bytes) {
  try {
    bytes->resize(size);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::length_error&) {
    return false;
  }
}

// ResourceExhausted.
inline absl::Status NoMemory(const std::string& what, uint64_t size) {
  return absl::ResourceExhaustedError(what + ": there is no memory for the " +
                                      std::to_string(size) +
                                      " bytes that it says it has; is it the right file?");
}

}  // namespace taas

#endif  // TRAINER_FORMATS_TAKE_MEMORY_H_
