#pragma once

#include "base/error.hpp"
#include "base/text.hpp"
#include "engine/docker.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace autopack::testing {

/// Files of an image that have only names, and the targets of links.
class NamedFiles final : public engine::ImageFiles {
public:
  explicit NamedFiles(std::map<std::string, std::string> files) : files_{std::move(files)} {}

  std::map<std::string, std::optional<std::string>> probe(
      const std::vector<std::string>& paths) override {
    std::map<std::string, std::optional<std::string>> found;
    for (const auto& path : paths) {
      if (const auto file = files_.find(path); file != files_.end()) {
        found[path] = non_empty(file->second);
      }
    }
    return found;
  }

  image::Reader archive(const std::string& path) override {
    throw Error(ErrorKind::remote, "`" + path + "` has no contents");
  }

private:
  std::map<std::string, std::string> files_;
};

}  // namespace autopack::testing
