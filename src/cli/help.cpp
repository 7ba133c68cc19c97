#include "cli/help.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

constexpr std::size_t help_columns = 80;
constexpr std::size_t text_column = 32;

/// Wraps `text` from `column` on, with further lines below the first.
std::string wrapped_from(const std::string& text, std::size_t column) {
  std::string result;
  std::size_t at = column;
  for (const auto& word : split(text, ' ')) {
    if (at > column && at + word.size() + 1 > help_columns) {
      result += "\n" + std::string(column, ' ');
      at = column;
    }
    result += (at > column ? " " : "") + word;
    at += word.size() + (at > column ? 1 : 0);
  }
  return result;
}

std::string flag_line(const FlagHelp& flag) {
  const std::string name = flag.name + (flag.label ? " " + *flag.label : "");
  const std::string gap = name.size() + 3 > text_column
                              ? fmt::format("\n{:{}}", "", text_column)
                              : std::string(text_column - name.size() - 2, ' ');
  return fmt::format("  {}{}{}\n", name, gap, wrapped_from(flag.text, text_column));
}

}  // namespace

std::string overview_text() {
  std::string text =
      "autopack packages a training project into a container image and runs it on\n"
      "Vertex AI.\n\n"
      "usage: autopack COMMAND [FLAGS]\n\n";
  for (const auto& command : commands()) {
    text +=
        fmt::format("  {:<11} {}\n", command.name, wrapped_from(std::string{command.summary}, 14));
  }
  text +=
      "\nexample:\n"
      "  autopack run --executor-image-uri=python:3.11 --script=train.py -- --epochs=1\n\n"
      "`autopack COMMAND --help` prints a command's flags. Every flag can also be set\n"
      "in the environment (`AUTOPACK_REGION`) and in `autopack.yaml` or\n"
      "`pyproject.toml` (`region: us-central1`). `man autopack` has everything.\n";
  return text;
}

std::string command_help_text(const CommandEntry& command, const FlagSet& flags, bool all) {
  std::string text = fmt::format(
      "{}\n\nusage: autopack {} {}\n",
      wrapped_from(fmt::format("autopack {}: {}", command.name, command.summary), 0), command.name,
      wrapped_from(std::string{command.usage}, 16 + command.name.size() + 1));
  std::vector<std::string> further;
  std::string section;
  for (const auto& flag : flags.help()) {
    const bool described = flag.brief || all;
    if (flag.section != section) {
      section = flag.section;
      if (described) {
        text += "\n" + section + ":\n";
      } else {
        further.push_back(section);
      }
    }
    if (described) {
      text += flag_line(flag);
    }
  }
  text += fmt::format("\nexample:\n{}", command.example);
  if (!all) {
    text += "\n" +
            wrapped_from(fmt::format("`autopack {} --help-all` describes every flag, also of: {}.",
                                     command.name, join(further, ", ")),
                         0) +
            "\n";
  }
  return text;
}

}  // namespace autopack::cli
