#pragma once

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack {

/// A repository made with the real git, independent of this machine's settings.
class ScratchRepository {
public:
  explicit ScratchRepository(std::filesystem::path place) : path{std::move(place)} {
    std::filesystem::create_directories(path);
    git({"init", "-q", "-b", "main"});
  }

  std::string git(const std::vector<std::string>& arguments,
                  std::map<std::string, std::string> variables = {}) const {
    std::vector<std::string> command{"git", "-C", path.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    for (const char* role : {"AUTHOR", "COMMITTER"}) {
      variables[std::string{"GIT_"} + role + "_NAME"] = "A";
      variables[std::string{"GIT_"} + role + "_EMAIL"] = "a@example.com";
    }
    variables["GIT_CONFIG_COUNT"] = "1";
    variables["GIT_CONFIG_KEY_0"] = "protocol.file.allow";
    variables["GIT_CONFIG_VALUE_0"] = "always";
    const auto result = run_process(command, "", {.environment = variables});
    REQUIRE(result);
    CAPTURE(join(arguments, " "));
    CAPTURE(result->errors);
    REQUIRE(result->status == 0);
    return std::string{trim(result->output)};
  }

  void write(const std::string& name, std::string_view text) const {
    write_file(path / name, text);
  }

  void commit() const {
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "x"});
  }

  std::filesystem::path path;
};

}  // namespace autopack
