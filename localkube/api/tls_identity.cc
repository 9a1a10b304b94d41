#include "localkube/api/tls_identity.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "operator/base/status.h"

namespace taas::localkube {
namespace {

// A local cluster that lives longer is made anew.
constexpr long kValidSeconds = 10L * 365 * 24 * 3600;
// Clocks of containers and guests may be behind.
constexpr long kBackdateSeconds = 3600;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;

absl::Status OpensslError(const char* attempt) {
  char text[256];
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  return absl::InternalError(std::string(attempt) + ": " + text);
}

absl::Status AddExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  if (extension == nullptr || X509_add_ext(certificate, extension.get(), -1) != 1) {
    return OpensslError("add an extension to the server's certificate");
  }
  return absl::OkStatus();
}

struct Subject {
  const char* name;
  EVP_PKEY* key;
  X509* issuer;  // Null: itself.
  EVP_PKEY* issuer_key;
  std::vector<std::pair<int, const char*>> extensions;
};

absl::StatusOr<Certificate> Sign(const Subject& subject) {
  Certificate certificate(X509_new());
  X509* x = certificate.get();
  unsigned char serial[8];
  if (x == nullptr || RAND_bytes(serial, sizeof serial) != 1) {
    return OpensslError("make the server's certificate");
  }
  uint64_t number = 0;
  for (unsigned char byte : serial) number = number << 8 | byte;
  X509_set_version(x, 2);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), number >> 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -kBackdateSeconds);
  X509_gmtime_adj(X509_getm_notAfter(x), kValidSeconds);
  X509_set_pubkey(x, subject.key);
  X509_NAME* name = X509_get_subject_name(x);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(subject.name), -1, -1, 0);
  X509* issuer = subject.issuer != nullptr ? subject.issuer : x;
  X509_set_issuer_name(x, X509_get_subject_name(issuer));
  for (const auto& [nid, value] : subject.extensions) {
    RETURN_IF_ERROR(AddExtension(x, issuer, nid, value));
  }
  if (X509_sign(x, subject.issuer_key, EVP_sha256()) == 0) {
    return OpensslError("sign the server's certificate");
  }
  return certificate;
}

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string Pem(X509* certificate) {
  const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return Text(bio.get());
}

std::string Pem(EVP_PKEY* key) {
  const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return Text(bio.get());
}

// The next "-----BEGIN …-----END …-----\n" of `text` from `*from` on.
std::string NextBlock(const std::string& text, size_t* from) {
  const size_t begin = text.find("-----BEGIN ", *from);
  const size_t end = begin == std::string::npos ? begin : text.find("-----END ", begin);
  const size_t line = end == std::string::npos ? end : text.find('\n', end);
  if (line == std::string::npos) return "";
  *from = line + 1;
  return text.substr(begin, line + 1 - begin);
}

}  // namespace

absl::StatusOr<TlsIdentity> MakeTlsIdentity() {
  const Key ca_key(EVP_EC_gen("P-256"));
  const Key key(EVP_EC_gen("P-256"));
  if (ca_key == nullptr || key == nullptr) return OpensslError("make the server's key");
  ASSIGN_OR_RETURN(const Certificate ca,
                   Sign({.name = "taas-local-ca",
                         .key = ca_key.get(),
                         .issuer = nullptr,
                         .issuer_key = ca_key.get(),
                         .extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                                        {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                        {NID_subject_key_identifier, "hash"}}}));
  ASSIGN_OR_RETURN(
      const Certificate certificate,
      Sign({.name = "taas-local",
            .key = key.get(),
            .issuer = ca.get(),
            .issuer_key = ca_key.get(),
            .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                           {NID_key_usage, "critical,digitalSignature"},
                           {NID_ext_key_usage, "serverAuth"},
                           {NID_authority_key_identifier, "keyid"},
                           {NID_subject_alt_name,
                            "IP:127.0.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,"
                            "DNS:kubernetes.default.svc"}}}));
  return TlsIdentity{Pem(key.get()), Pem(certificate.get()), Pem(ca.get())};
}

std::string FormatTlsIdentity(const TlsIdentity& identity) {
  return identity.key_pem + identity.certificate_pem + identity.ca_pem;
}

absl::StatusOr<TlsIdentity> ParseTlsIdentity(const std::string& text) {
  size_t from = 0;
  TlsIdentity identity;
  identity.key_pem = NextBlock(text, &from);
  identity.certificate_pem = NextBlock(text, &from);
  identity.ca_pem = NextBlock(text, &from);
  if (identity.ca_pem.empty()) {
    return absl::InvalidArgumentError(
        "it does not hold a key, a certificate and an authority; remove it to have new ones made");
  }
  return identity;
}

}  // namespace taas::localkube
