#include "cli/help.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

constexpr std::size_t columns = 100;

std::string flag_line(const FlagHelp& flag) {
  const std::string name = flag.name + (flag.label.empty() ? "" : " " + flag.label);
  return name.size() > 32 ? fmt::format("  {}\n{:36}{}\n", name, "", flag.text)
                          : fmt::format("  {:<33} {}\n", name, flag.text);
}

/// Names only, wrapped: what a person seldom looks for.
std::string names_paragraph(const std::vector<FlagHelp>& flags, const std::string& section) {
  std::string text = section + ":";
  std::size_t column = text.size();
  for (const auto& flag : flags) {
    if (flag.section != section) {
      continue;
    }
    if (column + flag.name.size() + 2 > columns) {
      text += "\n ";
      column = 1;
    }
    text += " " + flag.name;
    column += flag.name.size() + 1;
  }
  return text + "\n";
}

}  // namespace

std::string overview_text() {
  std::string text =
      "autopack packages a training project into a container image and runs it on Vertex AI.\n\n"
      "usage: autopack COMMAND [FLAGS]\n\n";
  for (const auto& command : commands()) {
    text += fmt::format("  {:<11} {}\n", command.name, command.summary);
  }
  text +=
      "\nexample:\n"
      "  autopack submit --region=us-central1 --worker-pool-spec=machine-type=n1-standard-4,\\\n"
      "    executor-image-uri=python:3.11,local-package-path=.,script=train.py\n\n"
      "`autopack COMMAND --help` tells a command's flags. Every flag can also stand in the\n"
      "environment: `--region` is `AUTOPACK_REGION`.\n";
  return text;
}

std::string command_help_text(const CommandEntry& command, const FlagSet& flags, bool all) {
  std::string text = fmt::format("autopack {}: {}\n\nusage: autopack {} {}\n", command.name,
                                 command.summary, command.name, command.usage);
  std::string names;
  std::string section;
  for (const auto& flag : flags.help()) {
    const bool described = flag.brief || all;
    if (flag.section != section) {
      section = flag.section;
      if (described) {
        text += "\n" + section + ":\n";
      } else {
        names += names_paragraph(flags.help(), section);
      }
    }
    if (described) {
      text += flag_line(flag);
    }
  }
  text += names.empty() ? "" : "\n" + names;
  text += fmt::format("\nexample:\n{}", command.example);
  if (!all) {
    text += fmt::format("\n`autopack {} --help -v` describes every flag.\n", command.name);
  }
  return text;
}

}  // namespace autopack::cli
