// Who the local API server is: a certificate for 127.0.0.1 and the authority that signed it.
//
// Made once and kept; the authority's key is thrown away, so nothing else can ever be signed with
// it.
//
// Ownership: value. Threads: any. Errors: Internal with OpenSSL's words.
//
//   ASSIGN_OR_RETURN(const TlsIdentity identity, MakeTlsIdentity());

#ifndef LOCALKUBE_API_TLS_IDENTITY_H_
#define LOCALKUBE_API_TLS_IDENTITY_H_

#include <string>

#include "absl/status/statusor.h"

namespace taas::localkube {

struct TlsIdentity {
  std::string key_pem;
  std::string certificate_pem;
  std::string ca_pem;
};

absl::StatusOr<TlsIdentity> MakeTlsIdentity();

// One file with all three.
std::string FormatTlsIdentity(const TlsIdentity& identity);
absl::StatusOr<TlsIdentity> ParseTlsIdentity(const std::string& text);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_TLS_IDENTITY_H_
