#include "submit/follow_up.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

namespace autopack::submit {

Error with_follow_up(Error error, const nlohmann::json& job) {
  const auto name = shell_quote(job.value("name", ""));
  return error.hint("follow it: autopack jobs stream-logs " + name)
      .hint("end it: autopack jobs cancel " + name);
}

}  // namespace autopack::submit
