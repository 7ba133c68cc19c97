#include "cli/console.hpp"

#include "base/text.hpp"
#include "cli/folded.hpp"
#include "cli/shortened.hpp"
#include "engine/build_failure.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace autopack::cli {

namespace {

constexpr std::chrono::milliseconds redraw_period{200};
constexpr std::chrono::seconds silence{30};

/// Returns errno of write(2) if it does not write everything, else 0.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EAGAIN) {
      // Another user of the terminal or pipe made it non-blocking.
      pollfd entry{descriptor, POLLOUT, 0};
      ::poll(&entry, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return errno;
    }
    bytes.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return 0;
}

void write_result(std::string_view bytes) {
  if (const int code = write_all(STDOUT_FILENO, bytes); code != 0) {
    throw Error(ErrorKind::environment, "cannot write the result to standard output")
        .cause(std::strerror(code));
  }
}

/// Reads one line of a terminal; returns nothing at its end, and after a signal.
std::optional<std::string> read_line() {
  std::array<char, 1024> buffer{};
  const auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  return count <= 0
             ? std::nullopt
             : std::optional{std::string{trim({buffer.data(), static_cast<std::size_t>(count)})}};
}

int terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

Streams Streams::of_process() {
  // If standard error is closed, there is nowhere else to report it.
  return {.out = write_result,
          .errors = [](std::string_view bytes) { write_all(STDERR_FILENO, bytes); },
          .input_is_terminal = ::isatty(STDIN_FILENO) == 1,
          .output_is_terminal = ::isatty(STDOUT_FILENO) == 1,
          .errors_are_terminal = ::isatty(STDERR_FILENO) == 1,
          .line = read_line,
          .columns = terminal_columns};
}

Console::Console(Streams streams, ConsoleOptions options)
    : streams_{std::move(streams)}, options_{options}, paint_{options.color} {}

Console::~Console() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
    erase_live();
  }
  woken_.notify_all();
}

void Console::done(std::string_view verb, std::string_view object) {
  const std::lock_guard lock{mutex_};
  print_done(paint_.green(fmt::format("{:>10}", verb)), object);
}

void Console::failed(std::string_view verb, std::string_view object) {
  const std::lock_guard lock{mutex_};
  print_done(paint_.red(fmt::format("{:>10}", verb)), object);
}

void Console::print_done(const std::string& painted_verb, std::string_view object) {
  steps_.forget();
  if (options_.verbosity < 0) {
    return;
  }
  const std::string text = printable(shortened(object));
  write_folded(fmt::format("{}  {}\n", painted_verb,
                           streams_.errors_are_terminal ? with_short_digests(text) : text));
}

void Console::warn(const Problem& problem) {
  if (options_.verbosity < 0) {
    return;
  }
  const std::lock_guard lock{mutex_};
  write_folded(warning_text(problem, paint_, options_.charset));
}

void Console::step(const StepEvent& event) {
  const std::lock_guard lock{mutex_};
  const bool shown = options_.progress != Progress::none && options_.verbosity >= 0;
  const auto reported = steps_.take(event, Clock::now(), shown && options_.verbosity > 0);
  if (reported && (shown || reported->verb == "Failed")) {
    reported_log_ = reported_log_ || reported->verb == "Failed";
    if (!reported->log.empty()) {
      write_lines(reported->log);
    }
    if (reported->verb) {
      const std::string verb = fmt::format("{:>10}", *reported->verb);
      write_folded(fmt::format("{}  {}\n", reported->verb == "Failed" ? paint_.red(verb) : verb,
                               reported->object));
    }
  }
  if (shown && !steps_.empty()) {
    start_watching();
  }
}

void Console::detail(std::string_view text) {
  if (options_.verbosity >= 1) {
    const std::lock_guard lock{mutex_};
    write_lines(paint_.dim(printable(shortened(text))) + "\n");
  }
}

void Console::trace(std::string_view text) {
  if (options_.verbosity >= 2) {
    const std::lock_guard lock{mutex_};
    write_lines(paint_.dim(printable(shortened(text))) + "\n");
  }
}

void Console::result(std::string_view text) {
  const std::lock_guard lock{mutex_};
  erase_live();
  streams_.out(text);
}

void Console::result_for_people(std::string_view text) {
  const std::string shown = in_locale(std::string{text});
  result(streams_.output_is_terminal ? folded(shown, columns()) : shown);
}

void Console::error(const Error& error) {
  const std::lock_guard lock{mutex_};
  print_error(error);
}

void Console::error(const Interrupted& end) {
  const std::lock_guard lock{mutex_};
  leave_line();
  print_error(end.report());
}

void Console::print_error(const Error& error) {
  steps_.forget();
  write_folded(error_text(error, paint_, options_.charset,
                          reported_log_ ? std::optional{engine::last_output_cause} : std::nullopt));
}

void Console::program_output(std::string_view bytes) {
  const std::lock_guard lock{mutex_};
  erase_live();
  try {
    streams_.out(bytes);
  } catch (const Error& error) {
    // The program's output is not ours: it continues, and its status counts.
    if (!std::exchange(reported_lost_, true) && options_.verbosity >= 0) {
      write_folded(warning_text(
          Problem::warning(
              {.message = "the program's output is lost: it cannot be written to "
                          "standard output",
               .reason = error.causes().empty() ? std::string{} : error.causes().back()}),
          paint_, options_.charset));
    }
  }
}

void Console::program_errors(std::string_view bytes) {
  const std::lock_guard lock{mutex_};
  erase_live();
  streams_.errors(bytes);
  // Rows drawn only at the next interval would rarely be visible beside busy programs.
  if (bytes.ends_with('\n')) {
    draw_live();
  }
}

std::optional<std::string> Console::ask(std::string_view question) {
  if (!streams_.input_is_terminal || !streams_.errors_are_terminal || !streams_.line) {
    return std::nullopt;
  }
  {
    const std::lock_guard lock{mutex_};
    erase_live();
    streams_.errors(in_locale(std::string{question}));
  }
  auto answer = streams_.line();
  if (!answer) {
    const std::lock_guard lock{mutex_};
    streams_.errors("\n");
  }
  return answer;
}

std::string Console::in_locale(std::string text) const {
  const auto is_wide = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  if (options_.charset == Charset::utf8 || std::ranges::none_of(text, is_wide)) {
    return text;
  }
  std::string narrow;
  for (const char c : text) {
    narrow +=
        is_wide(c) ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return narrow;
}

void Console::interrupted() {
  const std::lock_guard lock{mutex_};
  leave_line();
}

void Console::leave_line() {
  if (streams_.errors_are_terminal) {
    erase_live();
    streams_.errors("\n");
  }
}

std::size_t Console::columns() const {
  return static_cast<std::size_t>(std::max(streams_.columns ? streams_.columns() : 80, 20));
}

void Console::write_folded(const std::string& text) {
  write_lines(streams_.errors_are_terminal ? folded(text, columns()) : text);
}

void Console::write_lines(const std::string& text) {
  erase_live();
  streams_.errors(in_locale(text));
  draw_live();
}

void Console::erase_live() {
  if (live_lines_ > 0) {
    streams_.errors(fmt::format("\x1b[{}A\r\x1b[J", live_lines_));
    live_lines_ = 0;
  }
}

void Console::draw_live() {
  if (options_.progress != Progress::live || ending_ || options_.verbosity < 0) {
    return;
  }
  const int columns = streams_.columns ? streams_.columns() : 80;
  std::string text;
  for (const auto& line : steps_.live_lines(Clock::now(), columns, 8)) {
    text += paint_.dim(in_locale(line)) + "\n";
    ++live_lines_;
  }
  streams_.errors(text);
}

void Console::start_watching() {
  if (!watcher_.valid()) {
    watcher_ = in_background([this] { watch(); });
  }
}

void Console::watch() {
  std::unique_lock lock{mutex_};
  while (!ending_) {
    woken_.wait_for(lock, redraw_period);
    if (ending_) {
      return;
    }
    if (options_.progress == Progress::live) {
      erase_live();
      draw_live();
      continue;
    }
    for (const auto& line : steps_.silent_lines(Clock::now(), silence)) {
      write_lines(fmt::format("{:>10}  {}\n", "Running", line));
    }
  }
}

}  // namespace autopack::cli
