#include "dashboard/server/assets.h"

namespace taas::dashboard {

const std::vector<Asset>& Assets() {
  static const std::vector<Asset> kAssets = {
#include "dashboard/server/assets_data.inc"
  };
  return kAssets;
}

const Asset* FindAsset(std::string_view path) {
  for (const Asset& asset : Assets()) {
    if (asset.path == path) return &asset;
  }
  return nullptr;
}

}  // namespace taas::dashboard
