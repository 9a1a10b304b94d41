// The web page as it was built (dashboard/web), inside the program: compressed files by their path.
//
// Ownership: constants of the program. Threads: any. Errors: none; null for a path that is none.
//
//   const Asset* asset = FindAsset("assets/index-3f2a.js");

#ifndef DASHBOARD_SERVER_ASSETS_H_
#define DASHBOARD_SERVER_ASSETS_H_

#include <string_view>
#include <vector>

namespace taas::dashboard {

struct Asset {
  std::string_view path;  // "assets/index-3f2a.js", "index.html"
  std::string_view content_type;
  std::string_view gzip;    // Its text, compressed.
  std::string_view brotli;  // The same, smaller; empty: there is none.
};

const std::vector<Asset>& Assets();
const Asset* FindAsset(std::string_view path);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_ASSETS_H_
