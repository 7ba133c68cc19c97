#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::engine {

/// The JSON messages of an engine's stream, out of pieces cut anywhere.
class JsonLines {
public:
  using Take = std::function<void(const nlohmann::json& message)>;

  explicit JsonLines(Take take);

  /// Throws Error(remote) for a line that is no JSON object, or longer than 16 MiB.
  void feed(std::string_view bytes);
  /// The last line, when the stream ended without a line feed.
  void finish();

private:
  void take_line(std::string_view line);

  Take take_;
  std::string rest_;
};

/// The number at `key`; 0 when it is absent, no number or negative.
std::uint64_t number_at(const nlohmann::json& object, const char* key);
/// What an engine says in `errorDetail`, `error` or `message`; none when it complains of nothing.
std::optional<std::string> complaint_of(const nlohmann::json& message);

}  // namespace autopack::engine
