#include "dashboard/server/page_routes.h"

#include <utility>

#include "dashboard/server/assets.h"
#include "dashboard/http/gzip.h"
#include "dashboard/http/problem.h"
#include "dashboard/http/secret_text.h"
#include "operator/base/check.h"

namespace taas::dashboard {
namespace {

constexpr std::string_view kBasePlace = "<base href=\"./\"";
constexpr std::string_view kNoncePlace = "__CSP_NONCE__";
// Files whose name has a digest of what is in them.
constexpr char kForEver[] = "public, max-age=31536000, immutable";
// The page is some KB; its files are some MB.
constexpr size_t kAssetBytesMax = 64 << 20;

std::string Joined(const std::vector<std::string>& segments) {
  std::string path;
  for (const std::string& segment : segments) path += (path.empty() ? "" : "/") + segment;
  return path;
}

void ReplaceAll(std::string_view from, std::string_view to, std::string* text) {
  for (size_t at = text->find(from); at != std::string::npos;
       at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

WebResponse File(const WebRequest& request, const Asset& asset) {
  WebResponse response{.content_type = std::string(asset.content_type)};
  const std::string_view accepted = request.Header("accept-encoding");
  const bool brotli = !asset.brotli.empty() && accepted.find("br") != std::string_view::npos;
  const bool gzip = accepted.find("gzip") != std::string_view::npos;
  if (brotli || gzip) {
    response.body = Shared(std::string(brotli ? asset.brotli : asset.gzip));
    response.content_encoding = brotli ? "br" : "gzip";
  } else {
    auto text = Gunzip(asset.gzip, kAssetBytesMax);
    CHECK(text.ok());
    response.body = Shared(*std::move(text));
  }
  const bool for_ever = asset.path.substr(0, 7) == "assets/";
  response.headers = {{"Vary", "Accept-Encoding"},
                      {"Cache-Control", for_ever ? kForEver : "no-cache"},
                      {"Cross-Origin-Resource-Policy", "same-origin"}};
  return response;
}

}  // namespace

PageRoutes::PageRoutes(Options options) : options_(std::move(options)) {
  const Asset* index = FindAsset("index.html");
  CHECK(index != nullptr);
  auto text = Gunzip(index->gzip, kAssetBytesMax);
  CHECK(text.ok());
  index_ = *std::move(text);
}

std::string BaseOf(const WebRequest& request) {
  const size_t parts = request.segments.size() + (request.ends_with_slash ? 1 : 0);
  std::string base;
  for (size_t i = 1; i < parts; ++i) base += "../";
  return base.empty() ? "./" : base;
}

WebResponse PageRoutes::Answer(const WebRequest& request) const {
  if (request.method != "GET") {
    WebResponse response = ProblemResponse(405, "BadRequest", "a page can only be read");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  const std::string path = Joined(request.segments);
  if (path != "index.html") {
    if (const Asset* asset = FindAsset(path); asset != nullptr) return File(request, *asset);
  }
  if (!request.segments.empty() && request.segments[0] == "assets") {
    return ProblemResponse(404, "NotFound", "the page has no such file; load it anew");
  }
  return Page(request);
}

WebResponse PageRoutes::Page(const WebRequest& request) const {
  const std::string nonce = RandomSecret();
  if (nonce.empty()) return ProblemResponse(500, "Internal", "this machine has no random bytes");
  const bool embedded = !request.segments.empty() && request.segments[0] == "embed";
  std::string text = index_;
  ReplaceAll(kBasePlace, "<base href=\"" + BaseOf(request) + "\"", &text);
  ReplaceAll(kNoncePlace, nonce, &text);
  WebResponse response{.content_type = "text/html; charset=utf-8", .body = Shared(std::move(text))};
  response.headers = {{"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", PolicyOf(nonce, embedded)},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"}};
  return response;
}

std::string PageRoutes::PolicyOf(const std::string& nonce, bool embedded) const {
  std::string ancestors;
  if (embedded) {
    for (const std::string& origin : options_.frame_ancestors) {
      ancestors += (ancestors.empty() ? "" : " ") + origin;
    }
  }
  if (ancestors.empty()) ancestors = "'none'";
  return "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce +
         "'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; "
         "manifest-src 'self'; "
         "base-uri 'self'; form-action 'self'; frame-ancestors " + ancestors;
}

}  // namespace taas::dashboard
