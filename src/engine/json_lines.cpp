#include "engine/json_lines.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::engine {

namespace {

constexpr std::size_t longest_line = std::size_t{16} << 20U;

}  // namespace

JsonLines::JsonLines(Take take) : take_{std::move(take)} {}

void JsonLines::feed(std::string_view bytes) {
  for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    if (rest_.empty()) {
      take_line(bytes.substr(0, end));
    } else {
      rest_ += bytes.substr(0, end);
      const std::string line = std::move(rest_);
      rest_.clear();
      take_line(line);
    }
    bytes.remove_prefix(end + 1);
  }
  rest_ += bytes;
  if (rest_.size() > longest_line) {
    throw Error(ErrorKind::remote, "the engine sent a line of more than 16 MiB");
  }
}

void JsonLines::finish() {
  const std::string line = std::move(rest_);
  rest_.clear();
  take_line(line);
}

void JsonLines::take_line(std::string_view line) {
  line = trim(line);
  if (line.empty()) {
    return;
  }
  const auto message = parse_json(line);
  if (!message.is_object()) {
    throw Error(ErrorKind::remote, "the engine's response does not match its API")
        .cause(fmt::format("not a JSON object: `{}`", printable(line.substr(0, 200))));
  }
  take_(message);
}

std::uint64_t number_at(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) {
    return 0;
  }
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer() || found->get<std::int64_t>() < 0) {
    return 0;
  }
  return found->get<std::uint64_t>();
}

std::optional<std::string> complaint_of(const nlohmann::json& message) {
  std::string text;
  if (message.is_object() && message.contains("errorDetail")) {
    text = text_at(message["errorDetail"], "message");
  }
  if (text.empty()) {
    text = text_at(message, "error");
  }
  if (text.empty()) {
    text = text_at(message, "message");
  }
  return non_empty(std::string{trim(text)});
}

}  // namespace autopack::engine
