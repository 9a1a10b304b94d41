// What this machine, or in a cluster this pod, is called.
//
// Ownership: values. Threads: any. Errors: "" where the kernel does not say.

#ifndef OPERATOR_BASE_MACHINE_NAME_H_
#define OPERATOR_BASE_MACHINE_NAME_H_

#include <unistd.h>

#include <string>

namespace taas {

inline std::string MachineName() {
  char name[256] = "";
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

}  // namespace taas

#endif  // OPERATOR_BASE_MACHINE_NAME_H_
