#include "cli/findings_text.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::cli {

namespace {

using preflight::Finding;
using preflight::Findings;
using preflight::Result;

constexpr std::size_t columns = 80;
constexpr std::size_t indentation = 9;

/// `text` in lines of at most `width`, broken at spaces; a longer word stays whole.
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
  return std::any_of(programs.begin(), programs.end(),
                     [&](const char* program) { return remedy.starts_with(program); });
}

std::string painted(Result outcome, const std::string& word, const Paint& paint) {
  switch (outcome) {
    case Result::ok: return paint.green(word);
    case Result::warning: return paint.yellow(word);
    case Result::error: return paint.red(word);
    case Result::unknown: break;
  }
  return paint.dim(word);
}

/// `text` after a margin that is already written; all but the last line end in `continued`.
std::string block(const std::string& text, std::size_t margin, const std::string& continued = {}) {
  const auto lines = wrapped(text, columns - margin - continued.size());
  return join(lines, continued + "\n" + std::string(margin, ' ')) + "\n";
}

/// A command can go on in the next line only where no quotes stand.
std::string remedy_text(const std::string& remedy, std::size_t margin) {
  if (!is_command(remedy)) {
    return block(remedy, margin);
  }
  const bool is_plain = remedy.find_first_of("'\"#") == std::string::npos;
  return is_plain ? block(remedy, margin, " \\") : remedy + "\n";
}

std::string finding_text(const Finding& finding, const Paint& paint, Charset charset) {
  static constexpr std::string_view mend = "mend: ";
  const std::string margin(indentation, ' ');
  const auto word = fmt::format("{:<{}}", to_string(finding.outcome), indentation);
  auto text = painted(finding.outcome, word, paint) + block(printable(finding.what), indentation);
  if (!finding.why.empty()) {
    text += margin + block(printable(finding.why), indentation);
  }
  for (const auto& remedy : finding.remedies) {
    text += margin + paint.cyan(mend) +
            remedy_text(hint_text(remedy, charset), indentation + mend.size());
  }
  return text;
}

/// What could not be known for one reason is told as one.
Findings gathered(const Findings& findings) {
  Findings result;
  for (const auto& finding : findings) {
    const auto same = std::find_if(result.begin(), result.end(), [&](const Finding& other) {
      return finding.outcome == Result::unknown && other.outcome == Result::unknown &&
             other.why == finding.why;
    });
    if (same == result.end()) {
      result.push_back(finding);
    } else {
      same->what += "; " + finding.what;
    }
  }
  return result;
}

std::size_t count(const Findings& findings, Result outcome) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Finding& finding) { return finding.outcome == outcome; }));
}

std::string counted(std::size_t number, const char* thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

}  // namespace

std::string findings_text(const Findings& findings, const Paint& paint, Charset charset) {
  std::string text;
  for (const auto& finding : gathered(findings)) {
    text += finding_text(finding, paint, charset);
  }
  return text + fmt::format("\n{}, {}, {} not known\n",
                            counted(count(findings, Result::error), "error"),
                            counted(count(findings, Result::warning), "warning"),
                            count(findings, Result::unknown));
}

nlohmann::json findings_json(const Findings& findings) {
  auto list = nlohmann::json::array();
  for (const auto& finding : findings) {
    list.push_back({{"check", finding.check},
                    {"outcome", to_string(finding.outcome)},
                    {"what", finding.what},
                    {"why", finding.why},
                    {"remedies", hint_texts(finding.remedies)}});
  }
  return {{"findings", list},
          {"errors", count(findings, Result::error)},
          {"warnings", count(findings, Result::warning)},
          {"unknown", count(findings, Result::unknown)}};
}

}  // namespace autopack::cli
