#pragma once

#include "local/records.hpp"
#include "local/run.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace autopack::local {

/// Assembles the lines of a program's output from arbitrary pieces.
class LineBuffer {
public:
  explicit LineBuffer(std::function<void(std::string_view line)> take) : take_{std::move(take)} {}

  /// Splits a line of more than 64 KiB.
  void feed(std::string_view bytes);
  /// Emits the last line, if the output ended without a line feed.
  void finish();

private:
  std::function<void(std::string_view line)> take_;
  std::string rest_{};
};

/// Where the output of a job is shown.
struct Screen {
  /// A line of a replica; without a name, raw bytes of the job's only replica.
  std::function<void(std::optional<std::string_view> replica, std::string_view text)> log{};
  /// The current status of a replica, on one line; nothing if it has ended. May be empty.
  std::function<void(const std::string& replica, const std::optional<std::string>& line)> live{};
};

/// Writes the output of replicas to a screen and to the job's log.
class JobWatcher final : public Watcher {
public:
  struct Options {
    const Screen* screen{nullptr};
    LogWriter* log{nullptr};
    std::mutex* writing{nullptr};  ///< for the log
    std::string prefix{};          ///< before the names of replicas
    bool is_raw{false};  ///< the bytes of the only replica go to the screen without its name
    std::function<void()> running{};
    std::function<void()> ending{};
  };

  explicit JobWatcher(Options options) : options_{std::move(options)} {}

  void wrote(const Replica& replica, bool is_error, std::string_view bytes) override;
  void changed(const Replica& replica, const std::string& state) override;
  void used(const Replica& replica, const Usage& usage) override;
  void reported(const std::string& severity, const std::string& message) override;
  void running() override;
  void ending() override;

private:
  void take_line(const std::string& name, bool is_error, std::string_view line);
  void write(const char* severity, const std::string& task, std::string_view message) const;
  void show(const std::string& name) const;

  /// The status line of a running replica.
  struct Shown {
    std::string usage{};
    std::string line{"running"};
  };

  Options options_;
  std::map<std::string, Shown> shown_{};  ///< running replicas
  std::map<std::pair<std::string, bool>, LineBuffer> lines_{};
};

}  // namespace autopack::local
