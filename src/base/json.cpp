#include "base/json.hpp"

#include "base/error.hpp"

template class nlohmann::basic_json<>;

namespace autopack {

using nlohmann::json;

namespace {

template <class Json>
std::string exact_text(const Json& value) {
  try {
    return value.dump();
  } catch (const json::exception& error) {
    throw Error(ErrorKind::project, "a text that is not UTF-8 cannot be sent").cause(error.what());
  }
}

}  // namespace

json parse_json(std::string_view text) {
  return json::parse(text, nullptr, false);
}

std::string write_json(const json& value) {
  return exact_text(value);
}

std::string write_json(const nlohmann::ordered_json& value) {
  return exact_text(value);
}

std::string print_json(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace autopack
