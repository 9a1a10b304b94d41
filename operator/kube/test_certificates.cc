#include "operator/kube/test_certificates.h"

#include <atomic>

#include "openssl/evp.h"
#include "openssl/pem.h"
#include "openssl/x509v3.h"
#include "operator/base/check.h"

namespace taas {
namespace {

// Tests run for minutes; a day forgives a clock that is off.
constexpr long kValidSeconds = 24 * 3600;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

std::string CertificateText(X509* x509) {
  BIO* const bio = BIO_new(BIO_s_mem());
  CHECK(PEM_write_bio_X509(bio, x509) == 1) << "write a certificate";
  return TextOf(bio);
}

std::string KeyText(EVP_PKEY* key) {
  BIO* const bio = BIO_new(BIO_s_mem());
  CHECK(PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr) == 1)
      << "write a key";
  return TextOf(bio);
}

void Extend(X509* x509, int kind, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  CHECK(extension != nullptr) << value;
  X509_add_ext(x509, extension, -1);
  X509_EXTENSION_free(extension);
}

// Not signed yet.
X509* NewCertificate(const std::string& name, EVP_PKEY* key, X509* issuer) {
  static std::atomic<long> serial{1};
  X509* const x509 = X509_new();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), serial++);
  X509_gmtime_adj(X509_getm_notBefore(x509), -kValidSeconds);
  X509_gmtime_adj(X509_getm_notAfter(x509), kValidSeconds);
  X509_set_pubkey(x509, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x509, X509_get_subject_name(issuer == nullptr ? x509 : issuer));
  return x509;
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name) : key_(EVP_EC_gen("P-256")) {
  CHECK(key_ != nullptr) << "make a key";
  x509_ = NewCertificate(name, key_, nullptr);
  Extend(x509_, NID_basic_constraints, "critical,CA:TRUE");
  CHECK(X509_sign(x509_, key_, EVP_sha256()) > 0) << "sign";
  certificate_ = CertificateText(x509_);
}

TestAuthority::~TestAuthority() {
  X509_free(x509_);
  EVP_PKEY_free(key_);
}

TestAuthority::Pair TestAuthority::Issue(const std::string& name,
                                         const std::string& address) const {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const x509 = NewCertificate(name, key, x509_);
  Extend(x509, NID_subject_alt_name, "IP:" + address);
  CHECK(X509_sign(x509, key_, EVP_sha256()) > 0) << "sign";
  Pair pair{CertificateText(x509), KeyText(key)};
  X509_free(x509);
  EVP_PKEY_free(key);
  return pair;
}

}  // namespace taas
