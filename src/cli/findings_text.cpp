#include "cli/findings_text.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::cli {

namespace {

using Severity = Problem::Severity;

constexpr std::size_t most_columns = 80;
constexpr std::size_t fewest_columns = 30;
constexpr std::size_t finding_column = 9;

/// Breaks `text` at spaces into lines of at most `width`; keeps a longer word whole.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  for (const auto& word : split(text, ' ')) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > width) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  return lines;
}

bool is_command(const std::string& remedy) {
  static constexpr std::array programs{"gcloud ", "docker ", "sudo ", "export ", "echo ", "git "};
  return std::ranges::any_of(programs,
                             [&](const char* program) { return remedy.starts_with(program); });
}

std::string painted(Severity severity, const std::string& word, const Paint& paint) {
  switch (severity) {
    case Severity::ok: return paint.green(word);
    case Severity::warning: return paint.yellow(word);
    case Severity::error: return paint.red(word);
    case Severity::unknown: break;
  }
  return paint.dim(word);
}

/// Returns `text` after a margin that is already written; all lines except the last end in
/// `continued`.
std::string block(const std::string& text,
                  std::size_t columns,
                  std::size_t margin,
                  const std::string& continued = {}) {
  const auto lines = wrapped(text, columns - margin - continued.size());
  return join(lines, continued + "\n" + std::string(margin, ' ')) + "\n";
}

/// A command can continue on the next line only outside of quotes.
std::string remedy_text(const std::string& remedy, std::size_t columns, std::size_t margin) {
  if (!is_command(remedy)) {
    return block(remedy, columns, margin);
  }
  const bool is_plain = remedy.find_first_of("'\"#") == std::string::npos;
  return is_plain ? block(remedy, columns, margin, " \\") : remedy + "\n";
}

/// Returns the reason, else the place.
std::string because(const Problem& finding) {
  return !finding.reason && finding.origin ? "from " + *finding.origin
                                           : finding.reason.value_or("");
}

std::string finding_text(const Problem& finding,
                         const Paint& paint,
                         Charset charset,
                         std::size_t columns) {
  static constexpr std::string_view fix = "fix: ";
  const std::string margin(finding_column, ' ');
  const auto word = fmt::format("{:<{}}", to_string(finding.severity), finding_column);
  auto text = painted(finding.severity, word, paint) +
              block(printable(finding.message), columns, finding_column);
  const auto reason = because(finding);
  if (!reason.empty()) {
    text += margin + block(printable(reason), columns, finding_column);
  }
  for (const auto& remedy : finding.hints) {
    text += margin + paint.cyan(fix) +
            remedy_text(hint_text(remedy, charset), columns, finding_column + fix.size());
  }
  return text;
}

/// Merges findings that are unknown for the same reason.
Problems gathered(const Problems& findings) {
  Problems result;
  for (const auto& finding : findings) {
    const auto same = std::ranges::find_if(result, [&](const Problem& other) {
      return finding.severity == Severity::unknown && other.severity == Severity::unknown &&
             other.reason == finding.reason;
    });
    if (same == result.end()) {
      result.push_back(finding);
    } else {
      same->message += "; " + finding.message;
    }
  }
  return result;
}

/// Returns true if the finding counts for jobs on this machine, too.
bool is_of_machine(const Problem& finding) {
  static constexpr std::array checks{
      std::string_view{"engine"}, std::string_view{"store"},    std::string_view{"space"},
      std::string_view{"proxy"},  std::string_view{"resolver"}, std::string_view{"runtime"},
      std::string_view{"sudo"},   std::string_view{"job"},      std::string_view{"image"}};
  return std::ranges::count(checks, finding.check.value_or("")) > 0;
}

std::size_t count(const Problems& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count_if(
      findings, [&](const Problem& finding) { return finding.severity == severity; }));
}

std::string counted(std::size_t number, const char* thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

}  // namespace

std::string findings_text(const Problems& findings,
                          const Paint& paint,
                          Charset charset,
                          std::size_t columns) {
  const auto width = std::clamp(columns, fewest_columns, most_columns);
  auto all = gathered(findings);
  // clang 14 cannot use std::ranges::stable_partition.
  const auto google = std::stable_partition(all.begin(), all.end(), is_of_machine);
  std::string text;
  for (auto at = all.begin(); at != all.end(); ++at) {
    const bool has_groups = google != all.begin() && google != all.end();
    if (has_groups && at == all.begin()) {
      text += paint.bold("This machine") + "\n";
    } else if (has_groups && at == google) {
      text += "\n" + paint.bold("Google Cloud, only for jobs there") + "\n";
    }
    text += finding_text(*at, paint, charset, width);
  }
  return text + fmt::format("\n{}, {}, {} not known\n",
                            counted(count(findings, Severity::error), "error"),
                            counted(count(findings, Severity::warning), "warning"),
                            count(findings, Severity::unknown));
}

nlohmann::json findings_json(const Problems& findings) {
  auto list = nlohmann::json::array();
  for (const auto& finding : findings) {
    list.push_back({{"check", finding.check.value_or("")},
                    {"outcome", to_string(finding.severity)},
                    {"what", finding.message},
                    {"why", because(finding)},
                    {"remedies", hint_texts(finding.hints)}});
  }
  return {{"findings", list},
          {"errors", count(findings, Severity::error)},
          {"warnings", count(findings, Severity::warning)},
          {"unknown", count(findings, Severity::unknown)}};
}

}  // namespace autopack::cli
