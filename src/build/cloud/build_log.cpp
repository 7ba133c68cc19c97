#include "build/cloud/build_log.hpp"

#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::build {

namespace {

using State = StepEvent::State;

constexpr std::size_t most_last_lines{20};
/// Limits in bytes, for an unfinished line and for the end of a step's output.
constexpr std::size_t longest_log_line{std::size_t{1} << 16U};
constexpr std::size_t kept_step_log{16384};

std::size_t digits_at(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// Returns `line` without the prefix that Cloud Build puts before the lines of a step:
/// `Step #0: `, `Step #0 - "id": `.
std::string_view without_prefix(std::string_view line) {
  constexpr std::string_view word{"Step #"};
  if (!line.starts_with(word)) {
    return line;
  }
  const auto digits = digits_at(line.substr(word.size()));
  const auto colon = line.find(": ", word.size());
  return digits == 0 || colon == std::string_view::npos ? line : line.substr(colon + 2);
}

/// Returns the text after the time of an output line: `12.34 text`; nothing for other lines.
std::optional<std::string_view> output_in(std::string_view text) {
  const auto whole = digits_at(text);
  if (whole == 0 || whole >= text.size() || text[whole] != '.') {
    return std::nullopt;
  }
  const auto rest = text.substr(whole + 1);
  const auto part = digits_at(rest);
  if (part == 0 || (part < rest.size() && rest[part] != ' ')) {
    return std::nullopt;
  }
  return rest.substr(std::min(part + 1, rest.size()));
}

}  // namespace

void CloudLog::feed(std::string_view bytes) {
  rest_ += bytes;
  std::size_t begin = 0;
  for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
    take(std::string_view{rest_}.substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
  if (rest_.size() > longest_log_line) {
    finish();
  }
}

void CloudLog::finish() {
  if (!rest_.empty()) {
    take(std::exchange(rest_, {}));
  }
}

void CloudLog::take(std::string_view line) {
  while (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  line = without_prefix(line.substr(0, longest_log_line));
  reporter_.trace(printable(redact_credentials(std::string{line})));
  is_whole_ = is_whole_ || line == "DONE" || line == "ERROR";
  if (!trim(line).empty()) {
    lines_.emplace_back(line);
    if (lines_.size() > most_last_lines) {
      lines_.erase(lines_.begin());
    }
  }
  const auto digits = line.starts_with('#') ? digits_at(line.substr(1)) : 0;
  if (digits > 0 && line.size() > digits + 2 && line[digits + 1] == ' ') {
    take_step(std::string{line.substr(0, digits + 1)}, line.substr(digits + 2));
  }
}

void CloudLog::take_step(const std::string& id, std::string_view text) {
  auto& step = steps_[id];
  if (text.starts_with('[') && step.name.empty()) {
    step.name = text;
    step.reported = naming_ ? naming_(text) : step.name;
    reporter_.step({.id = id, .name = step.reported, .state = State::started});
  } else if (step.name.empty() || step.is_ended) {
    // BuildKit's own work, or what it repeats at the end.
  } else if (text == "CACHED" || text.starts_with("CANCELED")) {
    end(id, State::cached);  // nothing to report
  } else if (text.starts_with("DONE ")) {
    end(id, State::completed);
  } else if (constexpr std::string_view sign{"ERROR: "}; text.starts_with(sign)) {
    const auto message = std::string{text.substr(sign.size())};
    if (message.find("context canceled") == std::string::npos) {
      failure_ =
          engine::BuildFailure{.message = message, .step = step.name, .last_log = step.last_log};
    }
    end(id, State::failed, message);
  } else if (const auto output = output_in(text)) {
    log(id, *output);
  }
}

void CloudLog::end(const std::string& id, State state, std::string reason) {
  auto& step = steps_[id];
  step.is_ended = true;
  reporter_.step({.id = id, .name = step.reported, .state = state, .text = std::move(reason)});
}

void CloudLog::log(const std::string& id, std::string_view text) {
  auto& step = steps_[id];
  const auto line = std::string{text} + "\n";
  step.last_log += line;
  if (step.last_log.size() > 2 * kept_step_log) {
    step.last_log.erase(0, step.last_log.size() - kept_step_log);
  }
  reporter_.step({.id = id, .name = step.reported, .state = State::log, .text = line});
}

std::string CloudLog::last_lines() const {
  return join(lines_, "\n");
}

}  // namespace autopack::build
