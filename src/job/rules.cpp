#include "job/rules.hpp"

#include "base/text.hpp"
#include "job/pool_flags.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::job {

/// Returns the origin of the value at `path`, else of the nearest parent with one.
const Origin* Review::origin(std::string path) const {
  for (;;) {
    if (const auto found = job_.origins.find(path); found != job_.origins.end()) {
      return &found->second;
    }
    const auto end = path.find_last_of(".[");
    if (end == std::string::npos) {
      return nullptr;
    }
    path.resize(end);
  }
}

std::optional<std::string> Review::origin_text(const std::string& path) const {
  const auto* const found = origin(path);
  return found == nullptr ? std::nullopt : std::optional{to_string(*found)};
}

bool Review::was_given(const std::string& path) const {
  return job_.origins.contains(path);
}

std::string Review::name(const std::string& path, std::string_view key) const {
  const auto* const found = origin(path);
  if (has_own_flags(path)) {
    return fmt::format("`--{}`", key);
  }
  return found != nullptr && found->is_flag("--worker-pool-spec") ? fmt::format("`{}`", key)
                                                                  : shown_path(path);
}

bool Review::has_own_flags(const std::string& path) const {
  const auto* const found = origin(path);
  return found == nullptr || (found->kind != Origin::Kind::file && found->name.starts_with("--") &&
                              is_pool_key(found->name.substr(2)));
}

void Review::error(const std::string& path, std::string message, std::vector<std::string> hints) {
  problems_.push_back(
      {.message = std::move(message), .origin = origin_text(path), .hints = std::move(hints)});
}

void Review::warning(const std::string& path, std::string message) {
  problems_.push_back(
      Problem::warning({.message = std::move(message), .origin = origin_text(path)}));
}

std::string shown_path(std::string_view path) {
  static constexpr std::string_view prefix = "jobSpec.";
  if (path.starts_with(prefix)) {
    path.remove_prefix(prefix.size());
  }
  return fmt::format("`{}`", path);
}

std::size_t characters(std::string_view text) {
  // Skips UTF-8 continuation bytes.
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void check_job(const Job& job,
               const Location& location,
               const CheckOptions& options,
               Problems& problems) {
  Review review{job, options, problems};
  check_shape(job, review);
  check_job_fields(job, location, review);
  check_pools(job.spec, review);
  check_strategy(job.spec, review);
  if (is_tuning(job.kind)) {
    check_study(job, review);
  }
  if (is_pipeline(job.kind)) {
    check_pipeline(job, location, review);
  }
}

}  // namespace autopack::job
