#include "base/text.hpp"
#include "job/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace autopack::job {

namespace {

struct Word {
  std::string_view typed;
  std::string_view value;
};

constexpr std::array goals{Word{"maximize", "MAXIMIZE"}, Word{"minimize", "MINIMIZE"}};
constexpr std::array scales{Word{"linear", "UNIT_LINEAR_SCALE"}, Word{"log", "UNIT_LOG_SCALE"},
                            Word{"reverse-log", "UNIT_REVERSE_LOG_SCALE"}};

enum class ParameterType { real, whole, discrete, categorical };

struct TypeWord {
  std::string_view typed;
  std::string_view value;
  ParameterType type;
};

constexpr std::array types{
    TypeWord{"double", "doubleValueSpec", ParameterType::real},
    TypeWord{"int", "integerValueSpec", ParameterType::whole},
    TypeWord{"integer", "integerValueSpec", ParameterType::whole},
    TypeWord{"discrete", "discreteValueSpec", ParameterType::discrete},
    TypeWord{"categorical", "categoricalValueSpec", ParameterType::categorical}};

/// Returns the meaning of a word, spelled as here or as in the API; nothing if it is unknown.
Text meaning(std::string_view text, std::span<const Word> words) {
  const auto lower = to_lower(text);
  for (const auto& word : words) {
    if (lower == word.typed || text == word.value) {
      return std::string{word.value};
    }
  }
  return std::nullopt;
}

std::optional<ParameterType> find_type(std::string_view text) {
  const auto lower = to_lower(text);
  const auto* const found = std::ranges::find_if(
      types, [&](const TypeWord& word) { return word.typed == lower || word.value == text; });
  return found == types.end() ? std::nullopt : std::optional{found->type};
}

template <class Words>
std::string quote_words(const Words& words) {
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

/// Parses one `--parameter`.
class ParameterText {
public:
  ParameterText(const std::string& text, Problems& problems) : text_{text}, problems_{problems} {}

  std::optional<Parameter> read();

private:
  bool fault(const std::string& what);
  bool take_apart();
  ParameterType guessed_type() const;
  bool values(Parameter& parameter);
  bool whole(Parameter& parameter);
  bool real(Parameter& parameter);
  bool discrete(Parameter& parameter);

  const std::string& text_;
  Problems& problems_;
  std::string name_{};
  std::optional<ParameterType> type_{};
  std::string_view body_{};
  Text scale_{};
};

/// Reports an unreadable text; returns false.
bool ParameterText::fault(const std::string& what) {
  problems_.push_back(
      {.message = fmt::format("`{}`: {}", printable(text_), what),
       .origin = "`--parameter`",
       .hints = {"--parameter lr:double:1e-5..1e-1:log", "--parameter units:int:16..512",
                 "--parameter batch:discrete:32|64|128", "--parameter opt:adam|sgd"}});
  return false;
}

/// Parses NAME:[TYPE:]VALUES[:SCALE]; categories may contain colons if the type is named.
bool ParameterText::take_apart() {
  std::string_view rest = text_;
  const auto colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) {
    return fault("a parameter is NAME:VALUES or NAME:TYPE:VALUES[:SCALE]");
  }
  name_ = std::string{rest.substr(0, colon)};
  rest.remove_prefix(colon + 1);
  const auto end = rest.find(':');
  if (end != std::string_view::npos) {
    type_ = find_type(rest.substr(0, end));
  }
  if (type_) {
    rest.remove_prefix(end + 1);
  }
  const auto last = rest.rfind(':');
  if (last != std::string_view::npos && type_ != ParameterType::categorical) {
    const auto word = rest.substr(last + 1);
    scale_ = meaning(word, scales);
    if (!scale_) {
      const bool is_type = end != std::string_view::npos && !type_;
      return fault(is_type && last == end
                       ? fmt::format("`{}` is not a type ({}), or `{}` is not a scale ({})",
                                     printable(rest.substr(0, last)), quote_words(types),
                                     printable(word), quote_words(scales))
                       : fmt::format("`{}` is not a scale; the scales are {}", printable(word),
                                     quote_words(scales)));
    }
    rest = rest.substr(0, last);
  }
  body_ = rest;
  return true;
}

ParameterType ParameterText::guessed_type() const {
  if (const auto dots = body_.find(".."); dots != std::string_view::npos) {
    const bool whole = integer_of(body_.substr(0, dots)) && integer_of(body_.substr(dots + 2));
    return whole ? ParameterType::whole : ParameterType::real;
  }
  const auto parts = split(body_, '|');
  const bool numbers = std::ranges::all_of(
      parts, [](const std::string& part) { return number_of(part).has_value(); });
  return numbers ? ParameterType::discrete : ParameterType::categorical;
}

bool ParameterText::whole(Parameter& parameter) {
  const auto dots = body_.find("..");
  if (dots == std::string_view::npos) {
    return fault("a range is MIN..MAX");
  }
  const auto low = body_.substr(0, dots);
  const auto high = body_.substr(dots + 2);
  parameter.whole = WholeRange{.least = integer_of(low), .most = integer_of(high)};
  if (parameter.whole->least && parameter.whole->most) {
    return true;
  }
  return fault(
      fmt::format("`{}` is not a whole number", printable(parameter.whole->least ? high : low)));
}

bool ParameterText::real(Parameter& parameter) {
  const auto dots = body_.find("..");
  if (dots == std::string_view::npos) {
    return fault("a range is MIN..MAX");
  }
  const auto low = body_.substr(0, dots);
  const auto high = body_.substr(dots + 2);
  parameter.real = RealRange{.least = number_of(low), .most = number_of(high)};
  if (parameter.real->least && parameter.real->most) {
    return true;
  }
  return fault(fmt::format("`{}` is not a number", printable(parameter.real->least ? high : low)));
}

bool ParameterText::discrete(Parameter& parameter) {
  auto& numbers = ensure(ensure(parameter.discrete).values);
  for (const auto& part : split(body_, '|')) {
    const auto number = number_of(part);
    if (!number) {
      return fault(fmt::format("`{}` is not a number", printable(part)));
    }
    numbers.push_back(*number);
  }
  return true;
}

bool ParameterText::values(Parameter& parameter) {
  switch (type_.value_or(guessed_type())) {
    case ParameterType::real: return real(parameter);
    case ParameterType::whole: return whole(parameter);
    case ParameterType::discrete: return discrete(parameter);
    case ParameterType::categorical: break;
  }
  parameter.categories = Categories{.values = split(body_, '|')};
  return true;
}

std::optional<Parameter> ParameterText::read() {
  if (!take_apart()) {
    return std::nullopt;
  }
  Parameter parameter{.id = name_, .scale = scale_};
  return values(parameter) ? std::optional{std::move(parameter)} : std::nullopt;
}

}  // namespace

std::optional<Metric> metric_of_flag(const std::string& text, Problems& problems) {
  const auto colon = text.rfind(':');
  auto goal = colon == std::string::npos || colon == 0
                  ? std::nullopt
                  : meaning(std::string_view{text}.substr(colon + 1), goals);
  if (!goal) {
    const auto name = colon == 0 ? std::string{} : text.substr(0, colon);
    const bool is_max =
        colon != std::string::npos && to_lower(text.substr(colon)).starts_with(":max");
    problems.push_back(
        {.message = fmt::format("`{}` is not a metric: expected NAME:maximize or NAME:minimize",
                                printable(text)),
         .origin = "`--metric`",
         .hints = {fmt::format("--metric={}:{}", name.empty() ? "loss" : shell_quote(name),
                               is_max ? "maximize" : "minimize")}});
    return std::nullopt;
  }
  return Metric{.id = text.substr(0, colon), .goal = std::move(goal)};
}

std::optional<Parameter> parameter_of_flag(const std::string& text, Problems& problems) {
  return ParameterText{text, problems}.read();
}

}  // namespace autopack::job
