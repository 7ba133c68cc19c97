#include "build/wheels/static_source.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "image/archive_reader.hpp"
#include "project/code/setup_py.hpp"
#include "wheel/zip.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string_view>

namespace autopack::build {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_archive{100'000'000};  // bytes
constexpr std::uint64_t largest_tree{500'000'000};     // bytes, unpacked
constexpr std::uint64_t largest_kept{1'000'000};       // bytes of one file
/// What the other descriptions have if setup.py is not the only one that says requirements.
constexpr std::array<std::string_view, 4> elsewhere{"[project]", "install_requires",
                                                    "build-backend", "extras_require"};
constexpr std::array<std::string_view, 3> descriptions{"setup.py", "setup.cfg", "pyproject.toml"};

/// Returns `path` below the archive's one directory; empty for other files.
std::string inner_path(const std::string& path) {
  const auto normal = image::normal_path(path);
  const auto slash = normal.find('/');
  const auto inner = slash == std::string::npos ? std::string{} : normal.substr(slash + 1);
  return inner.empty() || wheel::name_fault(inner) ? std::string{} : inner;
}

std::string text_of(const image::Reader& content) {
  std::string text;
  image::read_all(content, [&](std::string_view bytes) { text += bytes; });
  return text;
}

/// Returns the files at the root that describe the package, by name.
std::map<std::string, std::string> read_descriptions(const fs::path& archive) {
  const auto file = std::make_shared<std::ifstream>(archive, std::ios::binary);
  const image::Reader reader = [file](char* buffer, std::size_t size) {
    file->read(buffer, static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(file->gcount());
  };
  std::map<std::string, std::string> texts;
  std::uint64_t size = 0;
  image::read_contents(reader, archive.filename().string(),
                       [&](const image::ArchiveEntry& entry, const image::Reader& content) {
                         size += entry.size;
                         if (size > largest_tree) {
                           throw Error(ErrorKind::project, "the archive is too large");
                         }
                         const auto path = inner_path(entry.path);
                         if (entry.type == image::ArchiveEntry::Type::file &&
                             entry.size <= largest_kept && contains(descriptions, path)) {
                           texts[path] = text_of(content);
                         }
                       });
  return texts;
}

}  // namespace

std::optional<std::vector<std::string>> static_requirements(const fs::path& archive) {
  std::error_code code;
  if (fs::file_size(archive, code) > largest_archive || code) {
    return std::nullopt;
  }
  try {
    const auto texts = read_descriptions(archive);
    const auto setup = texts.find("setup.py");
    const bool is_described_elsewhere = std::ranges::any_of(texts, [&](const auto& text) {
      return text.first != "setup.py" && std::ranges::any_of(elsewhere, [&](const auto word) {
               return text.second.find(word) != std::string::npos;
             });
    });
    if (setup == texts.end() || is_described_elsewhere) {
      return std::nullopt;
    }
    return project::read_setup_py(setup->second).certain_requirements;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace autopack::build
