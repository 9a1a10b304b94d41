#include "trainer/testing/links/enter_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "operator/base/check.h"

namespace taas::links {

void EnterNamespace(const std::string& file) {
  const int there = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(there >= 0 && setns(there, CLONE_NEWNET) == 0)
      << "enter " << file << ": " << std::strerror(errno);
  close(there);
}

}  // namespace taas::links
