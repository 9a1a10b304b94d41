#include "dashboard/events/wire.h"

namespace taas::dashboard {

bool WireReader::AppendVarints(size_t most, std::vector<uint64_t>* values) const {
  if (type_ == WireType::kVarint) {
    if (values->size() >= most) return false;
    values->push_back(varint_);
    return true;
  }
  if (type_ != WireType::kBytes) return false;
  WireReader packed(bytes_);
  while (!packed.rest_.empty()) {
    uint64_t value = 0;
    if (values->size() >= most || !packed.TakeVarint(&value)) return false;
    values->push_back(value);
  }
  return true;
}

}  // namespace taas::dashboard
