// nlohmann/json for this tree. Its parser and its writer are templates, which every file that uses
// them would compile for itself, a quarter of the time that such a file takes; here they are
// compiled once, in json.cc.
//
// The names are those of nlohmann/json 3.11's inner parts: with another release a name that is gone
// is an error of the compiler, and leaving it out costs time only.

#ifndef THIRD_PARTY_JSON_H_
#define THIRD_PARTY_JSON_H_

#include <string>

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

#endif  // THIRD_PARTY_JSON_H_
