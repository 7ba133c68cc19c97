#include "build/direct/installation.hpp"

#include "image/archive_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace autopack::build {

namespace {

constexpr std::size_t largest_record{16'000'000};
/// Larger layers are not fetched for the record.
constexpr std::uint64_t largest_layer{64'000'000};
/// The record is in the layer of the package's files, and again in the last one. BuildKit on
/// containerd's store leaves the last layers empty, because they change nothing.
constexpr std::size_t layers_with_record{3};

/// Returns the record of the image that `name` refers to; uses `read` if it is not cached. Returns
/// nothing if the image has none.
std::optional<plan::InstallRecord> record_of(
    Services& services,
    const plan::Plan& plan,
    const std::string& name,
    const std::function<std::optional<std::string>()>& read) {
  auto text = services.install_records.get(name);
  if (!text) {
    text = read();
    if (text) {
      services.install_records.put(name, *text);
    }
  }
  auto record = text ? plan::parse_install_record(*text) : std::nullopt;
  if (record) {
    services.install_records.put(plan.keys.value().dependencies, *text);
  }
  return record;
}

Installation installation_of(const std::optional<plan::InstallRecord>& record,
                             const plan::Plan& plan) {
  if (!record) {
    return {.outdated = "its image does not record the source of the package"};
  }
  return {.made = record->written, .outdated = plan::why_outdated(*record, plan)};
}

std::optional<plan::InstallRecord> last_record(const Services& services, const plan::Plan& plan) {
  const auto text = plan.dependencies.install && plan.keys
                        ? services.install_records.get(plan.keys->dependencies)
                        : std::nullopt;
  return text ? plan::parse_install_record(*text) : std::nullopt;
}

}  // namespace

Installation installation_in(Services& services,
                             const plan::Plan& plan,
                             const image::Source& image) {
  if (!plan.dependencies.install) {
    return {};
  }
  const auto read = [&]() -> std::optional<std::string> {
    const auto& layers = image.manifest.layers;
    const auto below = layers.size() - std::min(layers.size(), layers_with_record);
    for (std::size_t i = layers.size(); i > below && layers[i - 1].size <= largest_layer; --i) {
      if (auto record = image::read_member(image.open(layers[i - 1]),
                                           fmt::format("layer {} of `{}`", i, image.name),
                                           "usr/share/autopack/install.json", largest_record)) {
        return record;
      }
    }
    return std::nullopt;
  };
  return installation_of(record_of(services, plan, image.digest.str(), read), plan);
}

Installation installation_in_engine(Services& services,
                                    const plan::Plan& plan,
                                    const std::string& id) {
  if (!plan.dependencies.install) {
    return {};
  }
  const auto read = [&] {
    return services.docker().read_file(id, "/usr/share/autopack/install.json", largest_record);
  };
  return installation_of(record_of(services, plan, id, read), plan);
}

Installation last_installation(const Services& services, const plan::Plan& plan) {
  const auto record = last_record(services, plan);
  return record ? installation_of(record, plan) : Installation{};
}

std::vector<std::string> last_made(const Services& services, const plan::Plan& plan) {
  auto record = last_record(services, plan);
  return record ? std::move(record->written) : std::vector<std::string>{};
}

}  // namespace autopack::build
