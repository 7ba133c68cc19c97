#include "google/timestamp.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

namespace autopack::google {

namespace {

/// Reads numbers from the front of a text; `good` stays false once something did not match.
class Scanner {
public:
  explicit Scanner(std::string_view text) : rest_{text} {}

  int number(std::size_t digits) {
    int value = 0;
    const auto part = rest_.substr(0, digits);
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), value);
    good_ = good_ && part.size() == digits && part[0] != '-' && failure == std::errc{} &&
            end == part.data() + part.size();
    rest_.remove_prefix(part.size());
    return value;
  }

  /// Consumes and returns the next character if it is in `some`; otherwise returns `\0` and clears
  /// `good`.
  char one_of(std::string_view some) {
    const char next = rest_.empty() ? '\0' : rest_.front();
    good_ = good_ && next != '\0' && some.find(next) != std::string_view::npos;
    rest_.remove_prefix(rest_.empty() ? 0 : 1);
    return good_ ? next : '\0';
  }

  /// Returns `.123` as nanoseconds; 0 without a fraction.
  std::int32_t fraction() {
    if (rest_.empty() || rest_.front() != '.') {
      return 0;
    }
    rest_.remove_prefix(1);
    const auto digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    good_ = good_ && digits > 0 && digits <= 9;
    std::int32_t value = good_ ? number(digits) : 0;
    for (auto i = digits; i < 9; ++i) {
      value *= 10;
    }
    return value;
  }

  bool good() const { return good_; }

  bool at_end() const { return good_ && rest_.empty(); }

private:
  std::string_view rest_;
  bool good_{true};
};

std::string format_at(const char* format, std::int64_t seconds, std::int32_t nanoseconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds{seconds}};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format(fmt::runtime(format), static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     nanoseconds);
}

}  // namespace

std::optional<Timestamp> Timestamp::parse(std::string_view text) {
  Scanner scan{text};
  const int year = scan.number(4);
  scan.one_of("-");
  const int month = scan.number(2);
  scan.one_of("-");
  const int day = scan.number(2);
  scan.one_of("Tt ");
  const int hour = scan.number(2);
  scan.one_of(":");
  const int minute = scan.number(2);
  scan.one_of(":");
  const int second = scan.number(2);
  const auto nanoseconds = scan.fraction();
  const char zone = scan.one_of("Zz+-");
  int offset = 0;
  if (zone == '+' || zone == '-') {
    offset = scan.number(2) * 60;
    scan.one_of(":");
    offset += scan.number(2);
    offset = zone == '-' ? -offset : offset;
  }
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!scan.at_end() || !date.ok() || hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  return Timestamp{.seconds = std::int64_t{days} * 86'400 + std::int64_t{hour} * 3600 +
                              std::int64_t{minute - offset} * 60 + second,
                   .nanoseconds = nanoseconds};
}

std::string Timestamp::text() const {
  return format_at("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", seconds, nanoseconds);
}

std::string Timestamp::readable() const {
  return format_at("{:04}-{:02}-{:02} {:02}:{:02}:{:02} +0000", seconds, nanoseconds);
}

}  // namespace autopack::google
