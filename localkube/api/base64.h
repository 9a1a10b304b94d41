// Standard base64 (RFC 4648, with padding), as Kubernetes writes bytes in JSON.
//
// Ownership: values. Threads: any. Errors: DecodeBase64 gives nothing for what is none.
//
//   DecodeBase64(EncodeBase64(bytes)) == bytes

#ifndef LOCALKUBE_API_BASE64_H_
#define LOCALKUBE_API_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace taas::localkube {

std::string EncodeBase64(std::string_view bytes);
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_BASE64_H_
