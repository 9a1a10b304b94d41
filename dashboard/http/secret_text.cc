#include "dashboard/http/secret_text.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <memory>

#include "absl/strings/escaping.h"
#include "operator/base/check.h"

namespace taas::dashboard {
namespace {

constexpr size_t kSecretBytes = 32;
// What OpenID providers with hundreds of groups give is below this, and a header has room for it.
constexpr size_t kTokenBytesMax = 16 << 10;
// Of GCM.
constexpr size_t kTagBytes = 16;
constexpr std::array<unsigned char, 12> kNonce = {};

std::string Hex(const unsigned char* bytes, size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out;
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

// Whatever text the key is, it becomes one of the cipher's size.
std::array<unsigned char, 32> KeyOf(std::string_view text) {
  std::array<unsigned char, 32> key;
  unsigned int size = 0;
  CHECK(EVP_Digest(text.data(), text.size(), key.data(), &size, EVP_sha256(), nullptr) == 1);
  return key;
}

}  // namespace

std::string Sha256Hex(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  CHECK(EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr) == 1);
  return Hex(digest, size);
}

std::string Sealed(std::string_view key, std::string_view text) {
  const CipherPtr cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  const auto secret = KeyOf(key);
  std::string out(text.size() + kTagBytes, '\0');
  auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
  int size = 0, rest = 0;
  CHECK(EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, secret.data(),
                           kNonce.data()) == 1);
  CHECK(EVP_EncryptUpdate(cipher.get(), bytes, &size, Bytes(text),
                          static_cast<int>(text.size())) == 1);
  CHECK(EVP_EncryptFinal_ex(cipher.get(), bytes + size, &rest) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                            bytes + text.size()) == 1);
  return absl::WebSafeBase64Escape(out);
}

std::optional<std::string> Opened(std::string_view key, std::string_view sealed) {
  std::string bytes;
  if (!absl::WebSafeBase64Unescape(std::string(sealed), &bytes) || bytes.size() < kTagBytes) {
    return std::nullopt;
  }
  const CipherPtr cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  const auto secret = KeyOf(key);
  const size_t text_size = bytes.size() - kTagBytes;
  std::string text(text_size, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(text.data());
  int size = 0, rest = 0;
  CHECK(EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, secret.data(),
                           kNonce.data()) == 1);
  CHECK(EVP_DecryptUpdate(cipher.get(), out, &size, Bytes(bytes),
                          static_cast<int>(text_size)) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes,
                            bytes.data() + text_size) == 1);
  if (EVP_DecryptFinal_ex(cipher.get(), out + size, &rest) != 1) return std::nullopt;
  return text;
}

std::string RandomSecret() {
  unsigned char bytes[kSecretBytes];
  return RAND_bytes(bytes, sizeof bytes) == 1 ? Hex(bytes, sizeof bytes) : "";
}

bool IsBearerToken(std::string_view text) {
  return !text.empty() && text.size() <= kTokenBytesMax &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_' || c == '~' || c == '+' || c == '/' || c == '=';
         });
}

std::string_view CookieValue(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const size_t end = header.find(';');
    std::string_view pair = header.substr(0, end);
    header = end == std::string_view::npos ? "" : header.substr(end + 1);
    while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
    return pair.substr(equals + 1);
  }
  return {};
}

}  // namespace taas::dashboard
