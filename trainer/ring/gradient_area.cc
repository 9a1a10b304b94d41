#include "trainer/ring/gradient_area.h"

#include <string>
#include <utility>

#include "operator/base/log.h"

namespace taas {

std::optional<Buffer> GradientArea::Make(size_t bytes) {
  area_ = nullptr;
  auto made = comm::SharedArea::Make(bytes);
  if (!made.ok()) {
    Log(LogLevel::kWarning, "gradients will be copied between ranks of this machine",
        {{"why", std::string(made.status().message())}});
    return std::nullopt;
  }
  auto area = std::make_shared<const comm::SharedArea>(*std::move(made));
  area_ = area;
  char* const data = area->data();
  return Buffer(data, bytes, [area = std::move(area)](void*) mutable { area = nullptr; });
}

}  // namespace taas
