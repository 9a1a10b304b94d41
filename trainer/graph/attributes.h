// The constant parameters of an op: names and values, as given when a node is added.
//
// Ownership: value type. Threads: const methods are safe from any thread. Errors: the getters
// CHECK, because Graph::Add has compared the attributes with the op's declaration and filled in
// its defaults.
//
//   Attributes attributes{{"transpose_a", true}};
//   attributes.Bool("transpose_a");

#ifndef TRAINER_GRAPH_ATTRIBUTES_H_
#define TRAINER_GRAPH_ATTRIBUTES_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace taas {

using AttributeValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;

class Attributes {
 public:
  using Map = std::map<std::string, AttributeValue, std::less<>>;

  Attributes() = default;
  Attributes(std::initializer_list<Map::value_type> values) : values_(values) {}

  bool Has(std::string_view name) const { return values_.find(name) != values_.end(); }
  void Set(std::string_view name, AttributeValue value);
  const Map& values() const { return values_; }

  bool Bool(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  double Number(std::string_view name) const;
  const std::string& Text(std::string_view name) const;
  const std::vector<int64_t>& Ints(std::string_view name) const;

 private:
  Map values_;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_ATTRIBUTES_H_
