#include "local/job_watcher.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::local {

namespace {

constexpr std::size_t longest_line{std::size_t{64} << 10U};

}  // namespace

void LineBuffer::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto piece = bytes.substr(0, std::min(end, longest_line - rest_.size()));
    rest_ += piece;
    const bool is_whole = piece.size() == end;
    bytes.remove_prefix(piece.size() + (is_whole ? 1 : 0));
    if (is_whole || rest_.size() == longest_line) {
      take_(rest_);
      rest_.clear();
    }
  }
}

void LineBuffer::finish() {
  if (!rest_.empty()) {
    take_(rest_);
    rest_.clear();
  }
}

void JobWatcher::wrote(const Replica& replica, bool is_error, std::string_view bytes) {
  const auto name = options_.prefix + replica.name;
  if (options_.is_raw) {
    options_.screen->log(std::nullopt, bytes);
  }
  const auto take = [this, name, is_error](std::string_view line) {
    take_line(name, is_error, line);
  };
  lines_.try_emplace({name, is_error}, take).first->second.feed(bytes);
}

void JobWatcher::changed(const Replica& replica, const std::string& state) {
  const auto name = options_.prefix + replica.name;
  const bool is_running = state == "running";
  if (!is_running) {
    for (const bool is_error : {false, true}) {
      if (const auto found = lines_.find({name, is_error}); found != lines_.end()) {
        found->second.finish();
      }
    }
  }
  if (is_running) {
    shown_[name] = {};
  } else {
    shown_.erase(name);
  }
  show(name);
}

void JobWatcher::used(const Replica& replica, const Usage& usage) {
  const auto name = options_.prefix + replica.name;
  const auto found = shown_.find(name);
  if (found != shown_.end()) {  // otherwise it has ended meanwhile
    found->second.usage =
        fmt::format("{}, {:.2f} CPU | ", human_size(usage.memory), usage.processors);
    show(name);
  }
}

void JobWatcher::reported(const std::string& severity, const std::string& message) {
  write(severity.c_str(), options_.prefix + "service", message);
  options_.screen->log(options_.prefix + "service", message);
}

void JobWatcher::running() {
  if (options_.running) {
    options_.running();
  }
}

void JobWatcher::ending() {
  if (options_.ending) {
    options_.ending();
  }
}

void JobWatcher::take_line(const std::string& name, bool is_error, std::string_view line) {
  write(is_error ? "ERROR" : "INFO", name, line);
  if (!options_.is_raw) {
    options_.screen->log(name, line);
  }
  // An empty line is less useful than the one before it.
  if (const auto found = shown_.find(name); found != shown_.end() && !trim(line).empty()) {
    found->second.line = line;
    show(name);
  }
}

void JobWatcher::write(const char* severity,
                       const std::string& task,
                       std::string_view message) const {
  const std::lock_guard lock{*options_.writing};
  options_.log->write({.time = now(),
                       .insert_id = {},
                       .severity = severity,
                       .task = task,
                       .message = std::string{message}});
}

void JobWatcher::show(const std::string& name) const {
  if (options_.screen->live) {
    const auto found = shown_.find(name);
    options_.screen->live(name, found == shown_.end()
                                    ? std::nullopt
                                    : std::optional{found->second.usage + found->second.line});
  }
}

}  // namespace autopack::local
