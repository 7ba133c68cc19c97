#pragma once

#include "base/background.hpp"
#include "base/report.hpp"
#include "cli/error_text.hpp"
#include "cli/steps.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::cli {

/// The output of the program: file descriptors 1 and 2, or a test's strings.
struct Streams {
  std::function<void(std::string_view)> out{};
  std::function<void(std::string_view)> errors{};
  bool input_is_terminal{false};
  bool output_is_terminal{false};
  bool errors_are_terminal{false};
  std::function<std::optional<std::string>()> line{};  ///< the next line of standard input, if any
  std::function<int()> columns{};                      ///< of the terminal; 80 if unknown

  /// Returns those of this process.
  static Streams of_process();
};

enum class Progress { live, plain, none };

struct ConsoleOptions {
  bool color{false};         ///< on standard error
  bool color_output{false};  ///< on standard output
  Progress progress{Progress::plain};
  Charset charset{Charset::utf8};  ///< of the locale; other characters are written as `\xNN`
  int verbosity{0};                ///< -1 with `--quiet`, 1 with `-v`, 2 with `-vv`
};

/// The only place that prints. Standard output contains only the result; everything else is for
/// people and goes to standard error.
class Console : public Reporter {
public:
  Console(Streams streams, ConsoleOptions options);
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  Console(Console&&) = delete;
  Console& operator=(Console&&) = delete;

  void done(std::string_view verb, std::string_view object) override;
  /// The same in red, for something that failed.
  void failed(std::string_view verb, std::string_view object);
  void warn(const Problem& problem) override;
  void step(const StepEvent& event) override;
  void detail(std::string_view text) override;
  void trace(std::string_view text) override;

  /// Prints the result of the command on standard output.
  void result(std::string_view text);
  /// The same for a result that is text for people: restricts its characters to the locale, and
  /// folds it on a terminal.
  void result_for_people(std::string_view text);
  void error(const Error& error);
  void error(const Interrupted& end);
  /// Ends the terminal's line that shows the key of the interruption.
  void interrupted();
  /// Returns a person's answer to `question`; nothing if nobody can answer.
  std::optional<std::string> ask(std::string_view question);
  /// Prints the output of a program that autopack runs, byte for byte.
  void program_output(std::string_view bytes);
  void program_errors(std::string_view bytes);

  const Streams& streams() const { return streams_; }

  Paint error_paint() const { return paint_; }

  Paint output_paint() const { return Paint{options_.color_output}; }

  Charset charset() const { return options_.charset; }

  /// Returns the width of the terminal; 80 if unknown.
  std::size_t columns() const;

  /// Returns true with `-v`.
  bool is_verbose() const { return options_.verbosity >= 1; }

  /// Returns true if running steps are drawn and redrawn.
  bool is_live() const { return options_.progress == Progress::live && options_.verbosity >= 0; }

private:
  void print_done(const std::string& painted_verb, std::string_view object);
  std::string in_locale(std::string text) const;
  void leave_line();
  void print_error(const Error& error);
  void write_lines(const std::string& text);
  /// The same, folding lines that are wider than the terminal.
  void write_folded(const std::string& text);
  void erase_live();
  void draw_live();
  void watch();
  void start_watching();

  Streams streams_;
  ConsoleOptions options_;
  Paint paint_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  Steps steps_;
  int live_lines_{0};
  bool reported_log_{false};   ///< a failed step's log was printed in full
  bool reported_lost_{false};  ///< that a program's output cannot be written
  bool ending_{false};
  Background<void> watcher_{};  // last: it uses all the others
};

}  // namespace autopack::cli
