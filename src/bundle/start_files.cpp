#include "bundle/start_files.hpp"

#include "base/text.hpp"

namespace autopack::bundle {

namespace {

/// Returns `word` as one word of a shell.
std::string shell_word(const std::string& word) {
  return "'" + replace_all(word, "'", R"('\'')") + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) {
    text += " " + shell_word(word);
  }
  return text;
}

/// Returns the commands that start the image's program; arguments replace `Cmd`.
std::string start_of(const image::Configuration& configuration) {
  const auto directory = configuration.working_directory();
  const auto program = shell_words(configuration.entrypoint());
  auto whole = program + shell_words(configuration.command());
  if (whole.empty()) {
    whole = " /bin/sh";
  }
  return "mkdir -p " + shell_word(directory) + " 2> /dev/null\n" + "cd " + shell_word(directory) +
         " && unset OLDPWD || exit 1\n\n"
         "if [ -s /etc/rc.local ]; then\n    . /etc/rc.local\nfi\n\n"
         "if [ $# -gt 0 ]; then\n    exec" +
         program + " \"$@\"\nelse\n    exec" + whole + "\nfi\n";
}

}  // namespace

std::vector<StartFile> start_files(const image::Configuration& configuration) {
  std::string variables;
  std::string exports;
  for (const auto& variable : configuration.environment()) {
    const auto mark = variable.find('=');
    // A line is a variable there.
    if (mark == 0 || mark == std::string::npos || variable.find('\n') != std::string::npos) {
      continue;
    }
    variables += variable + "\n";
    exports +=
        "export " + variable.substr(0, mark) + "=" + shell_word(variable.substr(mark + 1)) + "\n";
  }
  const auto start = start_of(configuration);
  return {{.directories = {"etc"}, .name = "environment", .text = variables},
          {.directories = {"etc"}, .name = "rc", .text = start},
          {.directories = {".singularity.d"},
           .name = "runscript",
           .text = "#!/bin/sh\n" + start,
           .is_program = true},
          {.directories = {".singularity.d", "env"},
           .name = "10-docker2singularity.sh",
           .text = "#!/bin/sh\n" + exports,
           .is_program = true}};
}

}  // namespace autopack::bundle
