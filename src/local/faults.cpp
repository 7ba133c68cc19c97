#include "local/faults.hpp"

#include "base/text.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace autopack::local {

namespace {

/// Consumes the number at the start of `text`; returns nothing if there is none, or it is absurd.
std::optional<double> take_number(std::string_view& text) {
  constexpr double largest = 1e15;
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || !(number >= 0) || number > largest) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

template <std::size_t Size>
std::optional<double> factor_of(std::string_view unit,
                                const std::array<std::pair<std::string_view, double>, Size>& all) {
  for (const auto& [name, factor] : all) {
    if (name == unit) {
      return factor;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> read_fault(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> units{
      {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60'000}, {"h", 3'600'000}}};
  constexpr double longest = 1e12;
  constexpr std::string_view network{"network:"};
  const auto at = text.rfind('@');
  if (at == std::string::npos) {
    return std::nullopt;
  }
  std::string_view rest = std::string_view{text}.substr(at + 1);
  const auto number = take_number(rest);
  const auto factor = factor_of(rest, units);
  Fault fault{.replica = text.substr(0, at)};
  if (fault.replica.starts_with(network)) {
    fault.replica.erase(0, network.size());
    fault.kind = Fault::Kind::cut;
  }
  if (!number || !factor || fault.replica.empty() || *number * *factor > longest) {
    return std::nullopt;
  }
  fault.after = std::chrono::milliseconds{static_cast<std::int64_t>(*number * *factor)};
  return fault;
}

std::optional<std::uint64_t> read_size(const std::string& text) {
  static constexpr double k = 1024;
  static constexpr std::array<std::pair<std::string_view, double>, 9> units{{{"", 1},
                                                                             {"b", 1},
                                                                             {"k", k},
                                                                             {"kib", k},
                                                                             {"m", k * k},
                                                                             {"mib", k * k},
                                                                             {"g", k * k * k},
                                                                             {"gib", k * k * k},
                                                                             {"gb", 1e9}}};
  constexpr double largest = 1e15;
  std::string_view rest = text;
  const auto number = take_number(rest);
  const auto factor = factor_of(to_lower(rest), units);
  if (!number || !factor || *number * *factor < 1 || *number * *factor > largest) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*number * *factor);
}

}  // namespace autopack::local
