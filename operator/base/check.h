// CHECK: ends the process when the program itself is wrong.
//
// For programmer errors of process-wide state only, in every build. What the environment can cause
// is an absl::Status; what one job can cause marks that job and leaves the others alone.
//
// Ownership: none. Threads: any. Errors: none; a failed check prints file, line and text, then
// aborts.
//
//   CHECK(count > 0) << "a pool has at least one thread";

#ifndef OPERATOR_BASE_CHECK_H_
#define OPERATOR_BASE_CHECK_H_

#include <sstream>

namespace taas::check_internal {

class Failure {
 public:
  Failure(const char* file, int line, const char* expression);
  [[noreturn]] ~Failure();
  std::ostream& stream() { return text_; }

 private:
  std::ostringstream text_;
};

// Lets CHECK be an expression of type void with `<<` behind it.
struct Voidify {
  void operator&(std::ostream&) const {}
};

}  // namespace taas::check_internal

// gRPC's and glog's headers may define a CHECK of their own.
#undef CHECK
#define CHECK(expression)                     \
  (expression) ? static_cast<void>(0)         \
               : ::taas::check_internal::Voidify() & \
                     ::taas::check_internal::Failure(__FILE__, __LINE__, #expression).stream()

#endif  // OPERATOR_BASE_CHECK_H_
