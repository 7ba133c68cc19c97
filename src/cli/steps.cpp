#include "cli/steps.hpp"

#include "base/line.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::cli {

namespace {

/// A longer log keeps its end, which contains the reason of a failure.
constexpr std::size_t log_limit = 16U << 20U;

/// For a step's name on a permanent line.
constexpr std::size_t name_limit = 80;

std::string last_line(std::string_view log) {
  const auto end = log.find_last_not_of("\r\n");
  if (end == std::string_view::npos) {
    return {};
  }
  log = log.substr(0, end + 1);
  const auto begin = log.find_last_of("\r\n");
  return printable(trim(begin == std::string_view::npos ? log : log.substr(begin + 1)));
}

/// Returns at most `columns` bytes, cut between characters.
std::string cut(std::string text, std::size_t columns) {
  if (text.size() <= columns) {
    return text;
  }
  std::size_t end = columns > 3 ? columns - 3 : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return text.substr(0, end) + "...";
}

/// The text of a finished step whose name begins with a verb: `install numpy` becomes `Installed`
/// and `numpy`.
struct Finished {
  std::string verb{};
  std::string object{};
};

/// Returns nothing if the name does not begin with a step's verb.
std::optional<Finished> finished(const std::string& name) {
  using Form = std::pair<std::string_view, std::string_view>;
  static constexpr std::array forms{Form{"install ", "Installed"}, Form{"copy ", "Copied"},
                                    Form{"make ", "Made"},         Form{"look into ", "Read"},
                                    Form{"save ", "Saved"},        Form{"send ", "Sent"}};
  for (const auto& [verb, past] : forms) {
    if (name.starts_with(verb)) {
      return Finished{std::string{past}, name.substr(verb.size())};
    }
  }
  return std::nullopt;
}

std::string amount(std::uint64_t current, std::uint64_t total, Clock::duration elapsed) {
  if (current == 0 && total == 0) {
    return {};
  }
  std::string text = ", " + human_size(current);
  if (total > 0) {
    text += " of " + human_size(total);
  }
  const double seconds = std::chrono::duration<double>(elapsed).count();
  if (seconds >= 1) {
    text += fmt::format(
        ", {}/s", human_size(static_cast<std::uint64_t>(static_cast<double>(current) / seconds)));
  }
  if (seconds >= 1 && current > 0 && total > current) {
    const double left =
        seconds * static_cast<double>(total - current) / static_cast<double>(current);
    text += fmt::format(", {} left", elapsed_text(std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(left))));
  }
  return text;
}

}  // namespace

std::string harmless_lines(std::string_view text) {
  std::string result;
  if (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  for (const auto& line : split(text, '\n')) {
    std::string_view state{line};
    while (state.ends_with('\r')) {
      state.remove_suffix(1);
    }
    state = state.substr(state.find_last_of('\r') + 1);
    result += printable(redact_credentials(replace_all(std::string{state}, "\t", "    "))) + "\n";
  }
  return result;
}

std::string Steps::unreported_log(Running& step, bool to_the_end) {
  const std::size_t begin = step.log_reported;
  const std::size_t end = to_the_end ? step.log.size() : step.log.rfind('\n') + 1;
  if (end <= begin) {
    return {};
  }
  step.log_reported = end;
  return harmless_lines(std::string_view{step.log}.substr(begin, end - begin));
}

std::optional<Steps::Reported> Steps::take(const StepEvent& event,
                                           Clock::time_point now,
                                           bool with_logs) {
  using State = StepEvent::State;
  if (event.state == State::cached) {
    running_.erase(event.id);
    return std::nullopt;
  }
  auto [found, is_new] = running_.try_emplace(event.id);
  Running& step = found->second;
  if (is_new) {
    step.started = now;
    step.reported = now;
    step.order = next_++;
  }
  if (!event.name.empty()) {
    step.name = printable(single_spaced(event.name));
  }
  if (event.state == State::progress) {
    step.current = event.current;
    step.total = event.total;
  }
  if (event.state == State::log) {
    step.log += event.text;
    if (step.log.size() > 2 * log_limit) {
      const std::size_t dropped = step.log.size() - log_limit;
      step.log.erase(0, dropped);
      step.log_reported -= std::min(step.log_reported, dropped);
    }
  }
  const bool failed = event.state == State::failed;
  Reported reported;
  if (failed || with_logs) {
    reported.log = unreported_log(step, failed || event.state == State::completed);
  }
  const bool ended = failed || event.state == State::completed;
  if (failed || (ended && now - step.started >= std::chrono::seconds{1})) {
    const auto time = elapsed_text(now - step.started);
    if (const auto past = failed ? std::nullopt : finished(step.name)) {
      reported.verb = past->verb;
      reported.object = fmt::format("{} in {}", cut(past->object, name_limit), time);
    } else {
      reported.verb = failed ? "Failed" : "Step";
      reported.object = fmt::format("{} ({})", cut(step.name, name_limit), time);
    }
  }
  if (ended) {
    running_.erase(found);
  }
  return !reported.verb && reported.log.empty() ? std::nullopt : std::optional{reported};
}

std::vector<const Steps::Running*> Steps::in_order() const {
  std::vector<const Running*> steps;
  for (const auto& [id, step] : running_) {
    steps.push_back(&step);
  }
  std::ranges::sort(steps, [](const Running* a, const Running* b) { return a->order < b->order; });
  return steps;
}

std::vector<std::string> Steps::live_lines(Clock::time_point now,
                                           int columns,
                                           std::size_t limit) const {
  std::vector<std::string> lines;
  const auto width = static_cast<std::size_t>(std::max(columns - 1, 20));
  const auto steps = in_order();
  for (const auto* step : steps) {
    if (lines.size() + 1 >= limit) {
      lines.push_back(fmt::format("            and {} more", steps.size() - lines.size()));
      break;
    }
    const auto elapsed = now - step->started;
    const std::string tail =
        fmt::format(" ({}{})", elapsed_text(elapsed), amount(step->current, step->total, elapsed));
    const std::size_t room = width > tail.size() + 13 ? width - tail.size() - 12 : 1;
    lines.push_back("            " + cut(step->name, room) + tail);
    const std::string said = last_line(step->log);
    if (!said.empty()) {
      lines.push_back(cut("            | " + said, width));
    }
  }
  return lines;
}

std::vector<std::string> Steps::silent_lines(Clock::time_point now, std::chrono::seconds silence) {
  std::vector<std::string> lines;
  for (auto& [id, step] : running_) {
    if (now - step.reported >= silence) {
      step.reported = now;
      const auto elapsed = now - step.started;
      lines.push_back(fmt::format("{} ({}{})", step.name, elapsed_text(elapsed),
                                  amount(step.current, step.total, elapsed)));
    }
  }
  return lines;
}

}  // namespace autopack::cli
