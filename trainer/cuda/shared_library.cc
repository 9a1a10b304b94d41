#include "trainer/cuda/shared_library.h"

#include <dlfcn.h>
#include <link.h>

#include <utility>

namespace taas::cuda {
namespace {

std::string LoaderError() {
  const char* const text = dlerror();
  return text == nullptr ? "unknown error of the loader" : text;
}

}  // namespace

std::string LibraryVersion(int number) {
  return std::to_string(number / 10'000) + "." + std::to_string(number % 10'000 / 100) + "." +
         std::to_string(number % 100);
}

absl::StatusOr<SharedLibrary> SharedLibrary::Open(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return absl::NotFoundError(LoaderError());
  link_map* map = nullptr;
  const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0';
  return SharedLibrary(handle, known ? map->l_name : name);
}

absl::Status SharedLibrary::Find(const char* symbol, void** function) const {
  *function = dlsym(handle_, symbol);
  if (*function != nullptr) return absl::OkStatus();
  return absl::UnavailableError(path_ + " has no function " + symbol + ": " + LoaderError());
}

}  // namespace taas::cuda
