#include "third_party/json.h"

namespace nlohmann::detail {

template class lexer<json, JsonTextInput>;
template class lexer<json, JsonStringInput>;
template class parser<json, JsonTextInput>;
template class parser<json, JsonStringInput>;
template class json_sax_dom_parser<json>;
template class json_sax_dom_callback_parser<json>;
template class serializer<json>;

}  // namespace nlohmann::detail

template class nlohmann::basic_json<>;
template class nlohmann::json_pointer<std::string>;
template class std::map<std::string, nlohmann::json, std::less<>>;
template class std::vector<nlohmann::json>;
