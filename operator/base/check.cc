#include "operator/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace taas::check_internal {

Failure::Failure(const char* file, int line, const char* expression) {
  text_ << file << ":" << line << ": check failed: " << expression << " ";
}

Failure::~Failure() {
  text_ << "\n";
  std::fputs(text_.str().c_str(), stderr);
  std::abort();
}

}  // namespace taas::check_internal
