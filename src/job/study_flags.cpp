#include "base/json.hpp"
#include "base/text.hpp"
#include "job/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace autopack::job {

using nlohmann::json;

namespace {

struct Word {
  std::string_view typed;
  std::string_view value;
};

constexpr std::array goals{Word{"maximize", "MAXIMIZE"}, Word{"minimize", "MINIMIZE"}};
constexpr std::array scales{Word{"linear", "UNIT_LINEAR_SCALE"}, Word{"log", "UNIT_LOG_SCALE"},
                            Word{"reverse-log", "UNIT_REVERSE_LOG_SCALE"}};
constexpr std::array types{Word{"double", "doubleValueSpec"}, Word{"int", "integerValueSpec"},
                           Word{"integer", "integerValueSpec"},
                           Word{"discrete", "discreteValueSpec"},
                           Word{"categorical", "categoricalValueSpec"}};

/// What a word stands for, as typed here or as the API spells it; empty when it is none.
std::string_view meaning(std::string_view text, std::span<const Word> words) {
  const auto lower = to_lower(text);
  for (const auto& word : words) {
    if (lower == word.typed || text == word.value) {
      return word.value;
    }
  }
  return {};
}

std::string listed(std::span<const Word> words) {
  std::vector<std::string> names;
  for (const auto& word : words) {
    names.emplace_back(word.typed);
  }
  return "`" + join(names, "`, `") + "`";
}

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

/// One `--parameter`, taken apart.
class ParameterText {
public:
  ParameterText(const std::string& text, Problems& problems) : text_{text}, problems_{problems} {}

  json read();

private:
  json fault(const std::string& what);
  bool take_apart();
  void guess_type();
  json values();
  json range();
  json discrete();

  const std::string& text_;
  Problems& problems_;
  std::string name_{};
  std::string_view type_{};
  std::string_view body_{};
  std::string_view scale_{};
};

json ParameterText::fault(const std::string& what) {
  problems_.push_back(
      {.message = fmt::format("`{}`: {}", printable(text_), what),
       .origin = "`--parameter`",
       .hints = {"--parameter lr:double:1e-5..1e-1:log", "--parameter units:int:16..512",
                 "--parameter batch:discrete:32|64|128", "--parameter opt:adam|sgd"}});
  return nullptr;
}

/// NAME:[TYPE:]VALUES[:SCALE]; categories may hold colons when the type is named.
bool ParameterText::take_apart() {
  std::string_view rest = text_;
  const auto colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) {
    fault("a parameter is NAME:VALUES or NAME:TYPE:VALUES[:SCALE]");
    return false;
  }
  name_ = std::string{rest.substr(0, colon)};
  rest.remove_prefix(colon + 1);
  const auto end = rest.find(':');
  type_ = end == std::string_view::npos ? "" : meaning(rest.substr(0, end), types);
  if (!type_.empty()) {
    rest.remove_prefix(end + 1);
  }
  const auto last = rest.rfind(':');
  if (last != std::string_view::npos && type_ != "categoricalValueSpec") {
    const auto word = rest.substr(last + 1);
    scale_ = meaning(word, scales);
    if (scale_.empty()) {
      const bool is_type = end != std::string_view::npos && type_.empty();
      fault(is_type && last == end ? fmt::format("`{}` is no type ({}), or `{}` is no scale ({})",
                                                 printable(rest.substr(0, last)), listed(types),
                                                 printable(word), listed(scales))
                                   : fmt::format("`{}` is no scale; the scales are {}",
                                                 printable(word), listed(scales)));
      return false;
    }
    rest = rest.substr(0, last);
  }
  body_ = rest;
  return true;
}

void ParameterText::guess_type() {
  if (const auto dots = body_.find(".."); dots != std::string_view::npos) {
    const bool whole = integer_of(body_.substr(0, dots)) && integer_of(body_.substr(dots + 2));
    type_ = whole ? "integerValueSpec" : "doubleValueSpec";
    return;
  }
  const auto parts = split(body_, '|');
  const bool numbers = std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return number_of(part).has_value();
  });
  type_ = numbers ? "discreteValueSpec" : "categoricalValueSpec";
}

json ParameterText::range() {
  const auto dots = body_.find("..");
  if (dots == std::string_view::npos) {
    return fault("a range is MIN..MAX");
  }
  const auto low = body_.substr(0, dots);
  const auto high = body_.substr(dots + 2);
  if (type_ == "integerValueSpec") {
    const auto least = integer_of(low);
    const auto most = integer_of(high);
    if (!least || !most) {
      return fault(fmt::format("`{}` is no whole number", printable(least ? high : low)));
    }
    return {{"minValue", std::to_string(*least)}, {"maxValue", std::to_string(*most)}};
  }
  const auto least = number_of(low);
  const auto most = number_of(high);
  if (!least || !most) {
    return fault(fmt::format("`{}` is no number", printable(least ? high : low)));
  }
  return {{"minValue", *least}, {"maxValue", *most}};
}

json ParameterText::discrete() {
  auto numbers = json::array();
  for (const auto& part : split(body_, '|')) {
    const auto number = number_of(part);
    if (!number) {
      return fault(fmt::format("`{}` is no number", printable(part)));
    }
    numbers.push_back(*number);
  }
  return {{"values", std::move(numbers)}};
}

json ParameterText::values() {
  if (type_ == "categoricalValueSpec") {
    return {{"values", split(body_, '|')}};
  }
  return type_ == "discreteValueSpec" ? discrete() : range();
}

json ParameterText::read() {
  if (!take_apart()) {
    return nullptr;
  }
  if (type_.empty()) {
    guess_type();
  }
  auto spec = values();
  if (spec.is_null()) {
    return nullptr;
  }
  json parameter{{"parameterId", name_}, {std::string{type_}, std::move(spec)}};
  if (!scale_.empty()) {
    parameter["scaleType"] = scale_;
  }
  return parameter;
}

}  // namespace

json metric_of_flag(const std::string& text, Problems& problems) {
  const auto colon = text.rfind(':');
  const auto goal = colon == std::string::npos || colon == 0
                        ? std::string_view{}
                        : meaning(std::string_view{text}.substr(colon + 1), goals);
  if (goal.empty()) {
    problems.push_back({.message = fmt::format("`{}` is no metric: NAME:maximize or NAME:minimize",
                                               printable(text)),
                        .origin = "`--metric`",
                        .hints = {"--metric accuracy:maximize"}});
    return nullptr;
  }
  return {{"metricId", text.substr(0, colon)}, {"goal", goal}};
}

json parameter_of_flag(const std::string& text, Problems& problems) {
  return ParameterText{text, problems}.read();
}

}  // namespace autopack::job
