#include "cli/error_text.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/shortened.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <new>
#include <system_error>

namespace autopack::cli {

namespace {

/// An untrusted source may send megabytes that nobody reads.
constexpr std::size_t longest_text{8'000};

std::vector<std::string> all_shortened(std::vector<std::string> texts) {
  for (auto& text : texts) {
    text = shortened(text);
  }
  return texts;
}

/// Keeps line feeds and indents each further line; removes everything else that disturbs a
/// terminal.
std::string lines(std::string_view text, std::string_view indentation) {
  std::string result;
  for (const auto& line : split(shortened(trim(text)), '\n')) {
    result += (result.empty() ? "" : "\n" + std::string{indentation}) + printable(line);
  }
  return result;
}

std::string problem_text(const Problem& problem,
                         const std::string& label,
                         const Paint& paint,
                         Charset charset) {
  std::string text = label + " " + lines(with_short_names(problem.text()), "  ") + "\n";
  if (problem.origin) {
    text += "  from: " + lines(*problem.origin, "    ") + "\n";
  }
  for (const auto& hint : problem.hints) {
    text += "  " + paint.cyan("hint:") + " " + lines(hint_text(hint, charset), "    ") + "\n";
  }
  return text;
}

std::string problems_text(const Problems& problems, const Paint& paint, Charset charset) {
  std::string text;
  int errors = 0;
  for (const auto& problem : problems) {
    const bool is_error = problem.severity == Problem::Severity::error;
    const std::string label = is_error ? paint.red("error:") : paint.yellow("warning:");
    text += problem_text(problem, label, paint, charset);
    errors += is_error ? 1 : 0;
  }
  if (errors > 1) {
    text += fmt::format("\n{} errors\n", errors);
  }
  return text;
}

}  // namespace

std::string shortened(std::string_view text) {
  return text.size() <= longest_text
             ? std::string{text}
             : fmt::format("{}... ({} more bytes)", text.substr(0, longest_text),
                           text.size() - longest_text);
}

std::string with_short_names(std::string_view text) {
  constexpr std::size_t longest_name{240};
  constexpr std::size_t shown_begin{150};
  constexpr std::size_t shown_end{50};
  const auto is_inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  std::string result;
  for (;;) {
    const auto begin = text.find('`');
    const auto end = begin == std::string_view::npos ? begin : text.find('`', begin + 1);
    if (end == std::string_view::npos) {
      return result.append(text);
    }
    const auto name = text.substr(begin + 1, end - begin - 1);
    result += text.substr(0, begin + 1);
    if (name.size() <= longest_name) {
      result += name;
    } else {
      auto first = shown_begin;
      auto last = name.size() - shown_end;
      while (first > 0 && is_inside(name[first])) {
        --first;
      }
      while (last < name.size() && is_inside(name[last])) {
        ++last;
      }
      result.append(name.substr(0, first)).append("...").append(name.substr(last));
    }
    result += '`';
    text.remove_prefix(end + 1);
  }
}

std::string Paint::wrap(std::string_view code, std::string_view text) const {
  return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string{text};
}

std::string Paint::one_of_many(std::size_t number, std::string_view text) const {
  static constexpr std::array codes{"36", "33", "32", "35", "34", "31"};
  return wrap(codes[number % codes.size()], text);
}

std::string error_text(const Error& error,
                       const Paint& paint,
                       Charset charset,
                       std::optional<std::string_view> reported) {
  if (!error.problems().empty()) {
    return problems_text(error.problems(), paint, charset);
  }
  const bool internal = error.kind() == ErrorKind::internal;
  std::string text = fmt::format("{} {}{}\n", paint.red("error:"), internal ? "internal: " : "",
                                 lines(with_short_names(error.message()), "  "));
  for (const auto& cause : error.causes()) {
    if (reported && cause.starts_with(*reported)) {
      continue;
    }
    text += "  caused by: " + lines(with_short_names(cause), "    ") + "\n";
  }
  if (internal) {
    text += fmt::format("  this is a bug in autopack {}\n", AUTOPACK_VERSION);
  }
  if (!error.hints().empty()) {
    text += "\n";
  }
  for (const auto& hint : error.hints()) {
    text += paint.cyan("hint:") + " " + lines(hint_text(hint, charset), "  ") + "\n";
  }
  return text;
}

Error as_error(const std::exception& error) {
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return Error(ErrorKind::environment, fmt::format("cannot use `{}`", file->path1().string()))
        .cause(file->code().message());
  }
  if (const auto* refusal = dynamic_cast<const std::system_error*>(&error)) {
    return Error(ErrorKind::environment, "the system refused it").cause(refusal->code().message());
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return {ErrorKind::environment, "no memory is left"};
  }
  return {ErrorKind::internal, error.what()};
}

std::string warning_text(const Problem& problem, const Paint& paint, Charset charset) {
  return problem_text(problem, paint.yellow("warning:"), paint, charset);
}

nlohmann::json error_object(const Error& error) {
  return {{"kind", to_string(error.kind())},
          {"message", shortened(error.message())},
          {"causes", all_shortened(error.causes())},
          {"hints", hint_texts(error.hints())}};
}

std::string error_json(const Error& error) {
  const nlohmann::json whole{{"error", error_object(error)}};
  return print_json(whole, 2) + "\n";
}

}  // namespace autopack::cli
