#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::engine {

/// Parses the JSON messages of an engine's stream from arbitrary pieces.
class JsonLines {
public:
  using Take = std::function<void(const nlohmann::json& message)>;

  explicit JsonLines(Take take);

  /// Throws Error(remote) for a line that is not a JSON object, or longer than 16 MiB.
  void feed(std::string_view bytes);
  /// Parses the last line, if the stream ended without a line feed.
  void finish();

private:
  void take_line(std::string_view line);

  Take take_;
  std::string rest_;
};

/// Returns the number at `key`; 0 if it is absent, not a number, or negative.
std::uint64_t number_at(const nlohmann::json& object, const char* key);
/// Returns an engine's error in `errorDetail`, `error` or `message`; nothing if there is none.
std::optional<std::string> complaint_of(const nlohmann::json& message);

}  // namespace autopack::engine
