#include "executor/gpu_code.hpp"

#include "base/text.hpp"
#include "executor/python_facts.hpp"
#include "executor/record_cache.hpp"
#include "gpu/code_reader.hpp"
#include "python/name.hpp"
#include "state/records.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace autopack::executor {

namespace {

/// Begins the excerpts, which are JSON otherwise.
constexpr std::string_view mark{"gpu code "};

/// No ELF file with GPU code is smaller.
constexpr std::uint64_t smallest_library{160};
/// Of a larger one the rest is not read, and it is not judged.
constexpr std::uint64_t largest_library{std::uint64_t{4} << 30U};

state::Records gpu_records(const Services& services) {
  return state::Records{services.environment.cache_directory() / "bases" / "gpu", 8'000'000};
}

/// Returns the name of the record; nothing for an image without any digest.
std::optional<std::string> gpu_record(const image::BaseFacts& base) {
  const auto id = Digest::parse(base.image_id.value_or(""));
  const auto digest = base.digest ? base.digest : id;
  return digest ? std::optional{digest->hex() + " " + base.platform} : std::nullopt;
}

/// Returns the name of the package that has a library; empty if it is outside of packages.
std::string package_with(std::string_view path) {
  for (const std::string_view directory : {"/site-packages/", "/dist-packages/"}) {
    const auto at = path.find(directory);
    if (at == std::string_view::npos) {
      continue;
    }
    const auto parts = split(path.substr(at + directory.size()), '/');
    auto name = parts.front().substr(0, parts.front().find('.'));
    if (name == "nvidia" && parts.size() > 2) {
      name += "-" + parts[1];
    }
    return python::normalise_name(name);
  }
  return {};
}

/// Matches `libcudnn.so` and `libcudnn.so.9.1`, not `libcudnn.so.txt`.
bool is_library_name(std::string_view path) {
  constexpr std::string_view ending{".so"};
  const auto name = path.substr(path.rfind('/') + 1);
  for (auto at = name.find(ending); at != std::string_view::npos; at = name.find(ending, at + 1)) {
    const auto rest = name.substr(at + ending.size());
    if (rest.empty() || (rest.size() > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9')) {
      return true;
    }
  }
  return false;
}

/// Returns the code of a file of `size` bytes, reading at most `left`, which it lowers. If that
/// does not suffice, the code is damaged.
std::optional<gpu::LibraryCode> code_in(const image::Reader& content,
                                        std::uint64_t size,
                                        std::uint64_t& left) {
  if (left == 0) {
    return gpu::LibraryCode{.is_damaged = true};
  }
  gpu::CodeReader reader;
  std::array<char, 65536> buffer{};
  const auto most = std::min(left, largest_library);
  std::uint64_t total = 0;
  while (total < most && !reader.is_foreign()) {
    const auto count =
        content(buffer.data(),
                static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), most - total)));
    if (count == 0) {
      break;
    }
    reader.take({buffer.data(), count});
    total += count;
  }
  left -= total;
  auto code = reader.finish();
  if (total < size && !reader.is_foreign()) {
    code = code.value_or(gpu::LibraryCode{});
    code->is_damaged = true;
  }
  return code;
}

std::optional<std::string> excerpt_of_gpu_code(const image::ArchiveEntry& entry,
                                               const image::Reader& content,
                                               std::uint64_t& left) {
  if (entry.type != image::ArchiveEntry::Type::file || entry.size < smallest_library ||
      !is_library_name(entry.path)) {
    return std::nullopt;
  }
  auto code = code_in(content, entry.size, left);
  if (!code || (code->code.empty() && !code->is_damaged)) {
    return std::nullopt;
  }
  const std::vector<gpu::Library> one{
      {.path = entry.path, .size = entry.size, .code = *std::move(code)}};
  return std::string{mark} + gpu::to_json(one);
}

}  // namespace

image::TakeExcerpt excerpts_of_gpu_code(std::uint64_t most_read) {
  return
      [left = most_read](const image::ArchiveEntry& entry, const image::Reader& content) mutable {
        return excerpt_of_gpu_code(entry, content, left);
      };
}

std::vector<gpu::Library> gpu_libraries(const image::LayerTree& tree) {
  std::vector<gpu::Library> libraries;
  for (const auto& path : tree.excerpts_below("/")) {
    if (!is_library_name(path)) {
      continue;
    }
    const auto text = tree.excerpt(path).value_or("");
    auto found = text.starts_with(mark)
                     ? gpu::libraries_from_json(std::string_view{text}.substr(mark.size()))
                     : std::nullopt;
    for (auto& library : found ? *found : std::vector<gpu::Library>{}) {
      library.path = path;
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

void cache_gpu_libraries(const Services& services,
                         const image::BaseFacts& base,
                         const std::vector<gpu::Library>& libraries) {
  if (const auto name = gpu_record(base)) {
    gpu_records(services).put(*name, gpu::to_json(libraries));
  }
}

std::optional<std::string> cached_gpu_libraries(const Services& services,
                                                const image::BaseFacts& base) {
  const auto name = gpu_record(base);
  return name ? gpu_records(services).get(*name) : std::nullopt;
}

std::optional<std::vector<gpu::Library>> known_gpu_libraries(Services& services,
                                                             const image::BaseFacts& base) {
  if (const auto text = cached_gpu_libraries(services, base)) {
    return gpu::libraries_from_json(*text);
  }
  if (!services.repository_facts || !base.digest) {
    return std::nullopt;
  }
  services.repository_facts->read(*base.digest, base.platform);
  const auto texts = services.repository_facts->texts({gpu_libraries_key});
  return texts.empty() ? std::nullopt : gpu::libraries_from_json(texts.begin()->second);
}

std::vector<gpu::Package> gpu_packages(Services& services,
                                       const image::BaseFacts& base,
                                       const std::vector<gpu::Library>& libraries) {
  std::map<std::string, gpu::Package> packages;
  for (const auto& library : libraries) {
    auto name = package_with(library.path);
    auto& package = packages[name];
    package.name = std::move(name);
    package.libraries.push_back(library);
  }
  const auto python = known_python(services, base);
  std::vector<gpu::Package> all;
  for (auto& [name, package] : packages) {
    for (const auto& one : python ? python->installed : std::vector<InstalledDistribution>{}) {
      if (one.name == name || one.name.starts_with(name + "-cu")) {
        package.version = one.version.value_or("");
      }
    }
    all.push_back(std::move(package));
  }
  return all;
}

}  // namespace autopack::executor
