// Text as gzip, and back.
//
// Ownership: values. Threads: any. Errors: Gunzip: InvalidArgument for what is no gzip or is larger
// than allowed once unpacked.
//
//   const std::string packed = Gzip(text);

#ifndef DASHBOARD_HTTP_GZIP_H_
#define DASHBOARD_HTTP_GZIP_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas::dashboard {

std::string Gzip(std::string_view text);
absl::StatusOr<std::string> Gunzip(std::string_view packed, size_t bytes_max);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_GZIP_H_
