#include "operator/kube/credentials.h"

#include <utility>

#include "operator/base/bounded_file.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas {
namespace {

// A bundle of all the world's authorities has a quarter of it; a token fits a header.
constexpr size_t kCredentialBytesMax = 1 << 20;

std::string Trimmed(std::string text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  text.resize(last == std::string::npos ? 0 : last + 1);
  return text;
}

}  // namespace

Credentials::Credentials(ClusterAccess access, FileSystem& files, const Clock& clock, Check check)
    : access_(std::move(access)), files_(files), clock_(clock), check_(std::move(check)) {}

absl::StatusOr<std::string> Credentials::Read(const TextOrFile& from, const char* field) {
  if (from.file.empty()) return from.text;
  absl::StatusOr<std::string> text = ReadBounded(files_, from.file, kCredentialBytesMax);
  const std::string what = std::string("read ") + field + " named in " + access_.source;
  if (!text.ok()) return Annotate(text.status(), what);
  if (Trimmed(*text).empty()) {
    return absl::InvalidArgumentError(what + ": " + from.file + " is empty");
  }
  return text;
}

absl::StatusOr<TlsMaterial> Credentials::ReadTls() {
  TlsMaterial material;
  ASSIGN_OR_RETURN(material.ca, Read(access_.ca, "certificate authority"));
  ASSIGN_OR_RETURN(material.client_certificate,
                   Read(access_.client_certificate, "client certificate"));
  ASSIGN_OR_RETURN(material.client_key, Read(access_.client_key, "client key"));
  RETURN_IF_ERROR(check_(material)).With("certificates named in " + access_.source);
  return material;
}

absl::Status Credentials::Load() {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(tls_.material, ReadTls());
  tls_.generation = 1;
  tls_read_ = clock_.Now();
  ASSIGN_OR_RETURN(std::string token, Read(access_.token, "token"));
  token_ = {Trimmed(std::move(token)), clock_.Now()};
  return absl::OkStatus();
}

Credentials::Token Credentials::token() {
  std::lock_guard lock(mutex_);
  const Clock::Time now = clock_.Now();
  const bool fresh = !token_dropped_ && now - token_.read < kTokenAge;
  if (access_.token.file.empty() || fresh) return token_;
  absl::StatusOr<std::string> text = Read(access_.token, "token");
  // The time counts from the attempt either way: an unreadable file is not read at every request.
  token_.read = now;
  token_dropped_ = false;
  if (text.ok()) {
    token_.text = Trimmed(*std::move(text));
  } else {
    Log(LogLevel::kWarning, "token not read again, the old one stays",
        {{"why", std::string(text.status().message())}});
  }
  return token_;
}

bool Credentials::DropToken(const Token& used) {
  std::lock_guard lock(mutex_);
  if (access_.token.file.empty()) return false;
  // Somebody else has read a newer one already.
  if (token_.text == used.text) token_dropped_ = true;
  return true;
}

Credentials::Tls Credentials::tls() {
  std::lock_guard lock(mutex_);
  const Clock::Time now = clock_.Now();
  if (!tls_expired_ && now - tls_read_ < kTlsAge) return tls_;
  tls_read_ = now;
  tls_expired_ = false;
  absl::StatusOr<TlsMaterial> material = ReadTls();
  if (!material.ok()) {
    Log(LogLevel::kWarning, "certificates not read again, the old ones stay",
        {{"why", std::string(material.status().message())}});
  } else if (*material != tls_.material) {
    tls_.material = *std::move(material);
    ++tls_.generation;
    Log(LogLevel::kInfo, "certificates changed, connections are made anew",
        {{"source", access_.source}});
  }
  return tls_;
}

void Credentials::ExpireTls() {
  std::lock_guard lock(mutex_);
  tls_expired_ = true;
}

}  // namespace taas
