// nlohmann/json for this tree. It is all templates, which every file that uses them would compile
// for itself, a third of the time that such a file takes; what is not inlined is compiled once, in
// json.cc.
//
// The names are those of nlohmann/json 3.11's inner parts: with another release a name that is gone
// is an error of the compiler, and leaving it out costs time only.

#ifndef THIRD_PARTY_JSON_H_
#define THIRD_PARTY_JSON_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace nlohmann::detail {

// What json::parse makes of a string_view or a char pointer, and of a string.
using JsonTextInput = iterator_input_adapter<const char*>;
using JsonStringInput = iterator_input_adapter<std::string::const_iterator>;

extern template class lexer<json, JsonTextInput>;
extern template class lexer<json, JsonStringInput>;
extern template class parser<json, JsonTextInput>;
extern template class parser<json, JsonStringInput>;
extern template class json_sax_dom_parser<json>;
extern template class json_sax_dom_callback_parser<json>;
extern template class serializer<json>;

}  // namespace nlohmann::detail

extern template class nlohmann::basic_json<>;
extern template class nlohmann::json_pointer<std::string>;
extern template class std::map<std::string, nlohmann::json, std::less<>>;
extern template class std::vector<nlohmann::json>;

#endif  // THIRD_PARTY_JSON_H_
