// One GET over http or https, into memory: what it takes to download a data set.
//
// Certificates are verified against the system's roots and the host's name. No redirects, no
// proxies, no reuse of connections.
//
// Ownership: the caller owns the result. Threads: any; blocks until the end or a timeout. Errors:
// InvalidArgument (URL), Unavailable (no name, no connection, timeout, bad certificate, another
// answer than 200), ResourceExhausted (longer than allowed); each names the URL.
//
//   ASSIGN_OR_RETURN(std::string body, HttpGet("https://host/file.gz", {.bytes_max = 20 << 20}));

#ifndef TRAINER_DATA_HTTP_GET_H_
#define TRAINER_DATA_HTTP_GET_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace taas {

struct HttpGetOptions {
  // To resolve, to connect, and for TLS, each. Short: without a network nobody should wait.
  std::chrono::milliseconds connect_timeout{5'000};
  // Without a byte from the server.
  std::chrono::milliseconds idle_timeout{20'000};
  uint64_t bytes_max = 64 << 20;
  // PEM file with roots instead of the system's.
  std::string ca_file = "";
};

absl::StatusOr<std::string> HttpGet(const std::string& url, const HttpGetOptions& options);

}  // namespace taas

#endif  // TRAINER_DATA_HTTP_GET_H_
