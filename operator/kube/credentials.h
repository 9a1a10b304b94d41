// The bytes behind ClusterAccess, read again while we run: tokens and certificates rotate on disk.
//
// A token file is read again every minute, certificate files every ten seconds; a failed read, an
// empty file or a certificate without its key keeps what was there before.
//
// Ownership: files and clock must outlive it. Threads: all methods are safe from any thread.
// Errors: only Load fails, for what is missing or unreadable at the start; later trouble is logged.
//
//   Credentials credentials(access, files, clock);
//   RETURN_IF_ERROR(credentials.Load());
//   const Credentials::Token token = credentials.token();

#ifndef OPERATOR_KUBE_CREDENTIALS_H_
#define OPERATOR_KUBE_CREDENTIALS_H_

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/kube/kubeconfig.h"

namespace taas {

struct TlsMaterial {
  std::string ca;
  std::string client_certificate;
  std::string client_key;
  bool operator==(const TlsMaterial&) const = default;
};

class Credentials {
 public:
  // As client-go does; the kubelet renews a token at 80 % of its life.
  static constexpr std::chrono::seconds kTokenAge{60};
  static constexpr std::chrono::seconds kTlsAge{10};

  struct Token {
    std::string text;  // Empty: none is used.
    Clock::Time read{};
  };
  struct Tls {
    TlsMaterial material;
    uint64_t generation = 0;  // Counts changes, from 1.
  };
  // Says whether the parts fit together (certificate and key, valid PEM).
  using Check = std::function<absl::Status(const TlsMaterial&)>;

  Credentials(ClusterAccess access, FileSystem& files, const Clock& clock, Check check);

  absl::Status Load();
  Token token();
  // After a 401 to a request that used `used`: the next token() reads the file again. False where
  // that cannot help: the token is not from a file.
  bool DropToken(const Token& used);
  Tls tls();
  // After a handshake failed: the next tls() reads the files again.
  void ExpireTls();

  const ClusterAccess& access() const { return access_; }

 private:
  absl::StatusOr<std::string> Read(const TextOrFile& from, const char* field);
  absl::StatusOr<TlsMaterial> ReadTls();

  const ClusterAccess access_;
  FileSystem& files_;
  const Clock& clock_;
  const Check check_;
  std::mutex mutex_;
  Token token_;
  bool token_dropped_ = false;
  Tls tls_;
  Clock::Time tls_read_{};
  bool tls_expired_ = false;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_CREDENTIALS_H_
