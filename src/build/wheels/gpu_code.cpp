#include "build/wheels/gpu_code.hpp"

#include "base/json.hpp"
#include "gpu/code_reader.hpp"
#include "wheel/zip.hpp"

#include <algorithm>
#include <utility>

namespace autopack::build {

namespace {

using nlohmann::json;

/// No ELF file with a container is smaller.
constexpr std::uint64_t smallest_library{160};

bool may_have_gpu_code(std::string_view path, std::uint64_t size) {
  return size >= smallest_library && !path.ends_with(".py") && !path.ends_with(".pyi");
}

/// Versions of one package whose code is known.
constexpr std::size_t most_versions{30};

std::string versions_key(const std::string& package) {
  return "versions with known gpu code of " + package;
}

/// Returns what `reader` found in a file; nothing if that has no GPU code.
std::optional<gpu::Library> finished(gpu::CodeReader& reader,
                                     const std::string& path,
                                     std::uint64_t size) {
  auto code = reader.finish();
  if (!code || (code->code.empty() && !code->is_damaged)) {
    return std::nullopt;
  }
  return gpu::Library{.path = path, .size = size, .code = *std::move(code)};
}

}  // namespace

GpuCodeReader::GpuCodeReader(const Services& services,
                             std::shared_ptr<const std::vector<wheel::ChosenWheel>> wheels)
    : services_{services}, wheels_{std::move(wheels)} {}

wheel::Watch GpuCodeReader::watch() {
  const auto current = std::make_shared<gpu::CodeReader>();
  const auto self = shared_from_this();
  wheel::Watch watch;
  watch.begin = [current](std::size_t, const std::string& path, std::uint64_t size) {
    if (!may_have_gpu_code(path, size)) {
      return wheel::Watch::Take{};
    }
    *current = gpu::CodeReader{};
    return wheel::Watch::Take{[current](std::string_view bytes) { current->take(bytes); }};
  };
  watch.end = [self, current](std::size_t wheel, const std::string& path, std::uint64_t size) {
    if (auto library = finished(*current, path, size)) {
      self->add(wheel, *std::move(library));
    }
  };
  watch.wrote = [self](std::size_t wheel, std::size_t files, std::size_t of) {
    self->add_files(wheel, files, of);
  };
  return watch;
}

void GpuCodeReader::add(std::size_t wheel, gpu::Library library) {
  const std::lock_guard lock{mutex_};
  seen_[wheel].libraries.push_back(std::move(library));
}

void GpuCodeReader::add_files(std::size_t wheel, std::size_t files, std::size_t of) {
  const std::lock_guard lock{mutex_};
  auto& seen = seen_[wheel];
  seen.files += files;
  if (seen.files == of) {
    std::ranges::sort(seen.libraries, {}, &gpu::Library::path);
    cache_gpu_code(services_, installed_wheels({wheels_->at(wheel)}).front(), seen.libraries);
  }
}

std::string gpu_code_key(const Digest& wheel) {
  return "gpu-code-" + wheel.hex();
}

std::string to_json_with_code(const Services& services, const std::vector<InstalledWheel>& wheels) {
  json all = parse_json(to_json(wheels));
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    if (const auto text = services.wheel_records.get(gpu_code_key(wheels[i].digest))) {
      all[i]["gpu"] = parse_json(*text);
    }
  }
  return write_json(all);
}

std::optional<std::vector<InstalledWheel>> take_with_code(const Services& services,
                                                          const std::string& text) {
  auto wheels = installed_wheels_from_json(text);
  const json all = wheels ? parse_json(text) : json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& wheel = wheels->at(i);
    const auto code = all[i].contains("gpu") && !cached_gpu_code(services, wheel.digest)
                          ? gpu::libraries_from_json(write_json(all[i]["gpu"]))
                          : std::nullopt;
    if (code) {
      cache_gpu_code(services, wheel, *code);
    }
  }
  return wheels;
}

std::vector<gpu::Library> read_gpu_code(const std::filesystem::path& path) {
  std::vector<gpu::Library> libraries;
  const auto zip = wheel::Zip::open(path, path.filename().string());
  for (const auto& member : zip.members()) {
    if (!may_have_gpu_code(member.name, member.size)) {
      continue;
    }
    gpu::CodeReader reader;
    zip.read(member, [&](std::string_view bytes) { reader.take(bytes); });
    if (auto library = finished(reader, member.name, member.size)) {
      libraries.push_back(*std::move(library));
    }
  }
  std::ranges::sort(libraries, {}, &gpu::Library::path);
  return libraries;
}

void cache_gpu_code(const Services& services,
                    const InstalledWheel& wheel,
                    const std::vector<gpu::Library>& libraries) {
  services.wheel_records.put(gpu_code_key(wheel.digest), gpu::to_json(libraries));
  if (libraries.empty()) {
    return;
  }
  auto known = wheels_with_known_code(services, wheel.name);
  std::erase_if(known, [&](const auto& other) { return other.digest == wheel.digest; });
  known.push_back(wheel);
  known.erase(known.begin(),
              known.end() - static_cast<std::ptrdiff_t>(std::min(known.size(), most_versions)));
  services.wheel_records.put(versions_key(wheel.name), to_json(known));
}

std::vector<InstalledWheel> wheels_with_known_code(const Services& services,
                                                   const std::string& name) {
  const auto text = services.wheel_records.get(versions_key(name));
  auto known = text ? installed_wheels_from_json(*text) : std::nullopt;
  return known ? *std::move(known) : std::vector<InstalledWheel>{};
}

std::optional<std::vector<gpu::Library>> cached_gpu_code(const Services& services,
                                                         const Digest& wheel) {
  const auto text = services.wheel_records.get(gpu_code_key(wheel));
  return text ? gpu::libraries_from_json(*text) : std::nullopt;
}

}  // namespace autopack::build
