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

/// Where bytes go: file descriptors 1 and 2, or a test's strings.
struct Streams {
  std::function<void(std::string_view)> out{};
  std::function<void(std::string_view)> errors{};
  bool input_is_terminal{false};
  bool output_is_terminal{false};
  bool errors_are_terminal{false};
  std::function<std::optional<std::string>()> line{};  ///< the next of standard input, while any
  std::function<int()> columns{};                      ///< of the terminal; 80 when not known

  /// Those of this process.
  static Streams of_process();
};

enum class Progress { live, plain, none };

struct ConsoleOptions {
  bool color{false};         ///< on standard error
  bool color_output{false};  ///< on standard output
  Progress progress{Progress::plain};
  Charset charset{Charset::utf8};  ///< of the locale; what it lacks is written as `\xNN`
  int verbosity{0};                ///< -1 with `--quiet`, 1 with `-v`, 2 with `-vv`
};

/// The only place that prints. Standard output holds the result alone; all else is for people and
/// goes to standard error.
class Console : public Reporter {
public:
  Console(Streams streams, ConsoleOptions options);
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  Console(Console&&) = delete;
  Console& operator=(Console&&) = delete;

  void done(std::string_view verb, std::string_view object) override;
  void warn(const Problem& problem) override;
  void step(const StepEvent& event) override;
  void detail(std::string_view text) override;
  void trace(std::string_view text) override;

  /// The result of the command, on standard output.
  void result(std::string_view text);
  /// The same for a result that is text for people, which the locale may make narrow and a terminal
  /// folds.
  void result_for_people(std::string_view text);
  void error(const Error& error);
  void error(const Interrupted& end);
  /// Leaves the line of a terminal on which it shows the key that ended the command.
  void interrupted();
  /// What a person types as the answer to `question`; none when nobody is there to answer.
  std::optional<std::string> ask(std::string_view question);
  /// Output of a program that autopack runs, byte for byte.
  void program_output(std::string_view bytes);
  void program_errors(std::string_view bytes);

  const Streams& streams() const { return streams_; }

  Paint error_paint() const { return paint_; }

  Paint output_paint() const { return Paint{options_.color_output}; }

  Charset charset() const { return options_.charset; }

  /// True with `-v`.
  bool is_verbose() const { return options_.verbosity >= 1; }

  /// True when running steps are drawn and drawn over.
  bool is_live() const { return options_.progress == Progress::live && options_.verbosity >= 0; }

private:
  std::string in_locale(std::string text) const;
  std::size_t columns() const;
  void leave_line();
  void print_error(const Error& error);
  void write_lines(const std::string& text);
  /// The same, folded where the lines are longer than the terminal is wide.
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
  bool told_log_{false};  ///< of a failed step, in full
  bool ending_{false};
  Background<void> watcher_{};  // last: it uses all the others
};

}  // namespace autopack::cli
