#include "build/docker/own_installation.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "build/docker/docker_build.hpp"
#include "image/archive_reader.hpp"
#include "image/tar.hpp"
#include "plan/install_record.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace autopack::build {

namespace {

using image::ArchiveEntry;
using packaging::Packaging;

constexpr auto* observations = "/autopack/out";
constexpr std::string_view layer_prefix{"out/layer/"};
constexpr std::string_view record_path{"out/record/install.json"};
constexpr std::uint64_t largest_installation{std::uint64_t{2} << 30U};

/// What an observed installation left.
class Observations {
public:
  void take(const ArchiveEntry& entry, const image::Reader& content) {
    const auto path = image::normal_path(entry.path);
    if (path == record_path) {
      record_ = contents(entry, content);
    } else if (path.starts_with(layer_prefix)) {
      const auto name = path.substr(layer_prefix.size());
      const bool is_file = entry.type == ArchiveEntry::Type::file;
      written_[name] = {entry, is_file ? contents(entry, content) : std::string{}};
    }
  }

  const std::string& record() const { return record_; }

  /// Writes the files, sorted by path.
  void write(image::TarWriter& tar) const {
    for (const auto& [path, written] : written_) {
      const auto& [entry, text] = written;
      if (entry.type == ArchiveEntry::Type::directory) {
        tar.add_directory(path, entry.mode);
      } else if (entry.type == ArchiveEntry::Type::symlink) {
        tar.add_symlink(path, entry.link);
      } else {
        tar.add_file(path, entry.mode, text);
      }
    }
    tar.finish();
  }

private:
  std::string contents(const ArchiveEntry& entry, const image::Reader& content) {
    size_ += entry.size;
    if (size_ > largest_installation) {
      throw Error(ErrorKind::project, "the build of the project's own package writes too much")
          .cause(fmt::format("{} are the most", human_size(largest_installation)));
    }
    std::string text;
    std::array<char, 65536> buffer{};
    while (const auto count = content(buffer.data(), buffer.size())) {
      text.append(buffer.data(), count);
    }
    return text;
  }

  std::string record_{};
  std::map<std::string, std::pair<ArchiveEntry, std::string>> written_{};
  std::uint64_t size_{0};
};

Observations install_observed(Services& services, const Packaging& work) {
  auto& docker = services.docker();
  const auto image =
      build(services, work, {.stage = observed_stage, .is_own_alone = true}).image_id;
  Observations seen;
  try {
    docker.with_files(image, work.plan().platform, [&](engine::ImageFiles& files) {
      image::read_plain_contents(files.archive(observations),
                                 "the installation of the project's own package",
                                 [&](const ArchiveEntry& entry, const image::Reader& content) {
                                   seen.take(entry, content);
                                 });
    });
  } catch (...) {
    docker.remove_image(image);
    throw;
  }
  docker.remove_image(image);
  return seen;
}

/// Throws Error(project) if files of the executor image would have to go.
void check_record(const std::string& record) {
  if (!plan::parse_install_record(record)) {
    throw Error(ErrorKind::project, "the installation of the project's own package left no record");
  }
  const auto all = parse_json(record);
  if (const auto removed = all.find("removed"); removed != all.end() && !removed->empty()) {
    throw Error(ErrorKind::project, "the executor image has another version of it");
  }
}

}  // namespace

InstallOwn install_own_with(Services& services, const Packaging& work) {
  return [&services, &work](const std::filesystem::path& place) {
    const auto seen = install_observed(services, work);
    check_record(seen.record());
    std::ofstream out{place, std::ios::binary | std::ios::trunc};
    image::TarWriter tar{[&](std::string_view bytes) {
                           out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
                         },
                         image::file_time(services.environment)};
    seen.write(tar);
    out.close();
    if (!out) {
      throw Error(ErrorKind::environment, fmt::format("cannot write `{}`", place.string()));
    }
    return seen.record();
  };
}

}  // namespace autopack::build
