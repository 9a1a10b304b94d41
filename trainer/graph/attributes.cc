#include "trainer/graph/attributes.h"

#include "operator/base/check.h"

namespace taas {
namespace {

template <typename T>
const T& Get(const Attributes::Map& values, std::string_view name) {
  const auto found = values.find(name);
  CHECK(found != values.end()) << "no attribute " << name;
  const T* value = std::get_if<T>(&found->second);
  CHECK(value != nullptr) << "attribute " << name << " has another type";
  return *value;
}

}  // namespace

void Attributes::Set(std::string_view name, AttributeValue value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

bool Attributes::Bool(std::string_view name) const { return Get<bool>(values_, name); }
int64_t Attributes::Int(std::string_view name) const { return Get<int64_t>(values_, name); }
double Attributes::Number(std::string_view name) const { return Get<double>(values_, name); }

const std::string& Attributes::Text(std::string_view name) const {
  return Get<std::string>(values_, name);
}

const std::vector<int64_t>& Attributes::Ints(std::string_view name) const {
  return Get<std::vector<int64_t>>(values_, name);
}

}  // namespace taas
