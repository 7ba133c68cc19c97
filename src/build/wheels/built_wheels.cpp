#include "build/wheels/built_wheels.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/new_file.hpp"
#include "base/report.hpp"
#include "build/wheels/remembered_wheels.hpp"
#include "build/wheels/static_source.hpp"
#include "image/tar.hpp"
#include "python/wheel_name.hpp"
#include "wheel/wheel.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace autopack::build {

namespace {

/// Increment this if the same sources are built differently.
constexpr int build_format{1};

/// Increment this if the same archive gives a different wheel without a build.
constexpr int static_format{1};

constexpr auto* needs_build = "build";

std::string key_of_static_wheel(const std::string& identity) {
  return fmt::format("static {} {}", static_format, sha256(identity).hex());
}

std::string identity_of(const image::BaseFacts& base) {
  if (base.digest) {
    return base.digest->str();
  }
  return base.image_id.value_or(base.reference);
}

}  // namespace

std::string inputs_of_builds(const Services& services, const packaging::Packaging& work) {
  const auto& plan = work.plan();
  auto inputs =
      fmt::format("{}\n{}\n{}\n{}\n{}", build_format, identity_of(plan.base), plan.platform,
                  plan.python.value_or(""), image::file_time(services.environment));
  for (const auto& [name, value] : plan.dependencies.install_environment) {
    inputs += fmt::format("\n{}={}:{}", name, value.size(), value);
  }
  return inputs;
}

bool was_made_without_build(const Services& services, const std::string& identity) {
  const auto record = services.wheel_records.get(key_of_static_wheel(identity));
  return record && *record != needs_build;
}

BuiltWheels::BuiltWheels(Services& services,
                         const packaging::Packaging& work,
                         index::WheelCache& wheels,
                         WheelPolicy policy)
    : services_{services},
      wheels_{wheels},
      policy_{std::move(policy)},
      is_strict_{work.request().strict},
      inputs_{inputs_of_builds(services, work)} {}

std::string BuiltWheels::key(const WheelSource& source) const {
  return fmt::format("built {}", sha256(inputs_ + "\n" + source.identity).hex());
}

std::optional<ChosenFile> BuiltWheels::without_build(const WheelSource& source) const {
  const auto key = key_of_static_wheel(source.identity);
  const auto record = services_.wheel_records.get(key);
  if ((!source.archive && !source.files) || record == needs_build) {
    return std::nullopt;
  }
  if (auto known = ChosenFile::read(record.value_or(""));
      known && wheels_.find(known->digest.hex())) {
    return known;
  }
  auto files = source.files ? source.files() : std::nullopt;
  const auto wheel = source.archive ? static_wheel(source.archive())
                     : files        ? static_wheel(*std::move(files))
                                    : std::nullopt;
  if (!wheel) {
    services_.wheel_records.put(key, needs_build);
    return std::nullopt;
  }
  const auto cached = wheels_.add([&](const index::WheelCache::Take& out) { out(wheel->bytes); });
  ChosenFile made{.name = wheel->name,
                  .digest = Digest::parse("sha256:" + cached.sha256).value(),
                  .size = cached.size};
  services_.wheel_records.put(key, made.text());
  services_.reporter->detail(
      fmt::format("made `{}` from {} without a build", made.name, source.title));
  return made;
}

std::optional<ChosenFile> BuiltWheels::find(const WheelSource& source) const {
  if (auto made = without_build(source)) {
    return made;
  }
  if (policy_.freshness == packaging::Freshness::anew && can_build()) {
    return std::nullopt;
  }
  auto known = ChosenFile::read(services_.wheel_records.get(key(source)).value_or(""));
  return known && wheels_.find(known->digest.hex()) ? known : std::nullopt;
}

std::optional<ChosenFile> BuiltWheels::remembered(const WheelSource& source) const {
  if (!services_.repository_facts || is_strict_ ||
      (policy_.freshness == packaging::Freshness::anew && can_build())) {
    return std::nullopt;
  }
  const auto texts = services_.repository_facts->texts({remembered_key(source)});
  auto file = texts.empty() ? std::nullopt : ChosenFile::read(texts.begin()->second);
  if (!file || !file->url.empty() || !python::WheelName::parse(file->name)) {
    return std::nullopt;
  }
  const auto wheels = remembered_wheels(services_);
  const auto known = wheels.find(file->digest);
  return known != wheels.end() && known->second.needs ? file : std::nullopt;
}

std::filesystem::path BuiltWheels::file_of(const WheelSource& source,
                                           const ChosenFile& remembered) const {
  auto cached = wheels_.find(remembered.digest.hex());
  if (!cached) {
    if (!can_build()) {
      throw Error(ErrorKind::environment,
                  fmt::format("only an engine can build {}, {}", source.title, source.kind))
          .cause("the repository remembers its wheel, but not every layer with it")
          .hint("`--engine=auto` builds it with the docker engine");
    }
    if (build(source).digest != remembered.digest) {
      throw OtherWheel{
          ErrorKind::remote,
          fmt::format("{} gives another wheel here than the repository remembers", source.title)};
    }
    cached = wheels_.find(remembered.digest.hex());
  }
  return cached.value().path;
}

std::pair<std::string, std::string> BuiltWheels::fact(const WheelSource& source,
                                                      const ChosenFile& built) const {
  return {remembered_key(source), built.text()};
}

std::string BuiltWheels::remembered_key(const WheelSource& source) const {
  return "built-" + sha256(key(source)).hex();
}

ChosenFile BuiltWheels::build(const WheelSource& source) const {
  const auto start = std::chrono::steady_clock::now();
  const auto place = services_.environment.cache_directory() / "built.whl";
  sweep_leftovers(place);
  const NewFile file{place, FileMode::secret};
  const auto name = [&] {
    const LiveStep step{*services_.reporter, "build a wheel from " + source.title};
    return policy_.build(source, file.path());
  }();
  wheel::Wheel::open(file.path(), name);
  const auto cached =
      wheels_.add([&](const index::WheelCache::Take& out) { read_in_pieces(file.path(), out); });
  ChosenFile built{.name = name,
                   .digest = Digest::parse("sha256:" + cached.sha256).value(),
                   .size = cached.size};
  services_.wheel_records.put(key(source), built.text());
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  services_.reporter->done("Built", fmt::format("`{}` from {}, {}, in {:.1f} s", name, source.title,
                                                source.kind, time.count()));
  return built;
}

}  // namespace autopack::build
