#include "base/text.hpp"
#include "cli/all_flags.hpp"
#include "cli/help.hpp"
#include "version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::cli {

namespace {

/// Escapes `text` for roff; text in backticks becomes bold.
std::string roff(std::string_view text) {
  std::string result;
  bool bold = false;
  for (const char c : text) {
    switch (c) {
      case '\\': result += "\\e"; break;
      case '-': result += "\\-"; break;
      case '`':
        bold = !bold;
        result += bold ? "\\fB" : "\\fR";
        break;
      default: result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

bool is_shell_line(std::string_view line) {
  return line.starts_with("autopack ") || line.starts_with("source ") || line.starts_with("eval ");
}

/// Prints commands of an example at the margin, as in `--help`, so that continued commands can be
/// pasted and fit 80 columns, and its prose as paragraphs.
std::string example(std::string_view text) {
  std::string result;
  bool is_command = false;
  bool is_continued = false;
  for (const auto& whole : split(trim(text), '\n')) {
    const auto line = trim(whole);
    const bool was_command = std::exchange(is_command, is_continued || is_shell_line(line));
    is_continued = is_command && line.ends_with('\\');
    if (is_command != was_command) {
      result += is_command ? ".PP\n.nf\n.in 0\n" : ".in\n.fi\n.PP\n";
    }
    result += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  return result + (is_command ? ".in\n.fi\n" : "");
}

std::string flag_entry(const FlagHelp& flag) {
  std::string names;
  for (const auto& name : flag.spelled) {
    names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  }
  const std::string label = flag.label ? " \\fI" + roff(*flag.label) + "\\fR" : "";
  return fmt::format(".TP\n{}{}\n{}\n", names, label, roff(flag.text));
}

struct Section {
  std::string title{};
  std::vector<std::string> commands{};
  std::vector<FlagHelp> flags{};
};

/// Returns the sections of all commands' flags, each flag once, with its commands.
std::vector<Section> sections() {
  std::vector<Section> all;
  for (const auto& entry : commands()) {
    for (auto& flag : flags_of_command(entry.name)) {
      auto section =
          std::ranges::find_if(all, [&](const Section& one) { return one.title == flag.section; });
      if (section == all.end()) {
        section = all.insert(all.end(), Section{.title = flag.section});
      }
      const std::string name{entry.name};
      if (section->commands.empty() || section->commands.back() != name) {
        section->commands.push_back(name);
      }
      const bool is_new = std::ranges::none_of(
          section->flags, [&](const FlagHelp& other) { return other.long_name == flag.long_name; });
      if (is_new) {
        section->flags.push_back(std::move(flag));
      }
    }
  }
  // Flags of every command come last.
  std::stable_partition(all.begin(), all.end(), [](const Section& section) {
    return section.commands.size() < commands().size();
  });
  return all;
}

std::string commands_text() {
  std::string text = ".SH COMMANDS\n";
  for (const auto& entry : commands()) {
    text += fmt::format(".SS {}\n{}.\n.PP\n\\fBautopack {}\\fR {}\n.PP\n{}", roff(entry.name),
                        roff(entry.summary), roff(entry.name), roff(entry.usage),
                        example(entry.example));
  }
  return text;
}

std::string flags_text() {
  std::string text = ".SH FLAGS\n";
  for (const auto& section : sections()) {
    text += fmt::format(".SS {}\n", section.title.empty() ? "Other" : roff(section.title));
    text += section.commands.size() == commands().size()
                ? std::string{"Of every command.\n"}
                : fmt::format("Of {}.\n", roff("`" + join(section.commands, "`, `") + "`"));
    for (const auto& flag : section.flags) {
      text += flag_entry(flag);
    }
  }
  return text;
}

constexpr std::string_view closing{R"(.SH FILES
.TP
\fBautopack.yaml\fR
settings of the project: \fIflag\fR\fB:\fR \fIvalue\fR, without the dashes. \fBworker\-pool\-spec\fR is a list of
objects; \fBconfig\fR may be the job itself instead of a file's name.
.TP
\fBpyproject.toml\fR
the same in its table \fB[tool.autopack]\fR.
.TP
\fB$XDG_CONFIG_HOME/autopack/config.yaml\fR
the same for all projects of a user.
.PP
A flag wins over the environment, that over the project's file, that over the user's, that over the
configuration of gcloud. \fB\-v\fR tells where each value came from.
.SH ENVIRONMENT
Every flag can stand in a variable: \fB\-\-region\fR is \fBAUTOPACK_REGION\fR. Those of gcloud
(\fBCLOUDSDK_CONFIG\fR, \fBCLOUDSDK_CORE_PROJECT\fR, \fBCLOUDSDK_AI_REGION\fR, ...), of Docker
(\fBDOCKER_HOST\fR, \fBDOCKER_CONFIG\fR, ...), of pip, \fBSOURCE_DATE_EPOCH\fR and \fBNO_COLOR\fR are read as
their own tools do.
.SH EXIT STATUS
.TP
0
done
.TP
1
failed
.TP
2
wrong usage or input
.TP
3
\fBdockerfile \-\-check\fR: the file drifted
.TP
130, 143, 129
interrupted: by SIGINT (Ctrl-C), SIGTERM or SIGHUP
.PP
\fBautopack run\fR ends with the program's own status, and with 125 when autopack itself failed.
)"};

}  // namespace

std::string manual_page() {
  std::string text = fmt::format(
      ".TH AUTOPACK 1 \"\" \"autopack {0}\" \"User Commands\"\n.ad l\n"
      ".SH NAME\nautopack \\- package a training project and run it on Vertex AI\n"
      ".SH SYNOPSIS\n\\fBautopack\\fR \\fICOMMAND\\fR [\\fIFLAGS\\fR]\n"
      ".SH DESCRIPTION\n"
      "Turns a local training project into a container image and runs it as a Vertex AI job: "
      "writes\n"
      "a Dockerfile, builds with the Docker Engine or puts the image together itself, pushes, and\n"
      "submits by digest. Messages go to standard error; standard output holds the result alone.\n",
      AUTOPACK_VERSION);
  return text + commands_text() + flags_text() + std::string{closing};
}

}  // namespace autopack::cli
