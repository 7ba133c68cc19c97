#include "base/text.hpp"
#include "job/legacy.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <compare>
#include <optional>

namespace autopack::job {

namespace {

struct Version {
  int major{0};
  int minor{0};

  auto operator<=>(const Version&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Parses `2.11` with `separator` `.`, `2-11.py310` with `-`; returns nothing for other text.
std::optional<Version> version_of(std::string_view text, char separator) {
  Version version;
  const auto* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != separator) {
    return std::nullopt;
  }
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc{} || (minor.ptr != end && *minor.ptr != '.')) {
    return std::nullopt;
  }
  return version;
}

/// Returns the registry of the prebuilt images nearest to the region.
std::string_view registry_near(std::string_view region) {
  if (region.starts_with("europe-")) {
    return "europe";
  }
  return region.starts_with("asia-") || region.starts_with("australia-") ? "asia" : "us";
}

/// Prefers a version that is not older than `wanted`, then the nearest.
bool is_nearer(const Version& a, const Version& b, const Version& wanted) {
  const bool a_fits = a >= wanted;
  if (a_fits != (b >= wanted)) {
    return a_fits;
  }
  return a_fits ? a < b : b < a;
}

/// Returns the image of `family` (`tf-cpu.`) nearest to `wanted`; among equal ones that with the
/// shorter name, which has the older Python.
const tables::PrebuiltImage* nearest_image(std::string_view family, const Version& wanted) {
  const tables::PrebuiltImage* best = nullptr;
  Version best_version;
  for (const auto& image : tables::prebuilt_images()) {
    const auto version = image.name.starts_with(family)
                             ? version_of(image.name.substr(family.size()), '-')
                             : std::nullopt;
    if (!version) {
      continue;
    }
    const bool is_shorter =
        best != nullptr && *version == best_version && image.name.size() < best->name.size();
    if (best == nullptr || is_shorter || is_nearer(*version, best_version, wanted)) {
      best = &image;
      best_version = *version;
    }
  }
  return best;
}

}  // namespace

Text runtime_image(Legacy& legacy, const Text& accelerator) {
  const std::string at = "trainingInput.runtimeVersion";
  const auto typed = legacy.input().runtime_version.value_or("");
  const auto wanted = version_of(typed, '.');
  if (!wanted) {
    if (typed.empty()) {
      legacy.missing(at,
                     "`runtimeVersion` is missing: it selects the image that the packages run in",
                     {"--runtime-version=2.11"});
    } else {
      legacy.error(at,
                   fmt::format("`{}` is not a runtime version such as `2.11`", printable(typed)));
    }
    return std::nullopt;
  }
  const std::string_view family = !accelerator                       ? "tf-cpu."
                                  : accelerator->starts_with("TPU_") ? "tf-tpu."
                                                                     : "tf-gpu.";
  const auto* const image = nearest_image(family, *wanted);
  if (image == nullptr) {
    throw Error(ErrorKind::internal, "the table of prebuilt images has none of TensorFlow");
  }
  const auto found = version_of(image->name.substr(family.size()), '-');
  if (*found != *wanted) {
    legacy.warn(at, fmt::format("runtime version `{}` has no prebuilt image: `{}` comes nearest",
                                typed, image->name));
  } else {
    legacy.warn(at, fmt::format("runtime version `{}` becomes the prebuilt image `{}`, which has "
                                "TensorFlow but not all of the runtime's other packages",
                                typed, image->name));
  }
  const auto python = legacy.input().python_version.value_or("");
  const bool is_310 = image->name.ends_with("310");
  if (!python.empty() && python != (is_310 ? "3.10" : "3.7")) {
    legacy.warn("trainingInput.pythonVersion",
                fmt::format("Python {} is not in `{}`, which has Python {}", printable(python),
                            image->name, is_310 ? "3.10" : "3.7"));
  }
  return fmt::format("{}-docker.pkg.dev/vertex-ai/training/{}:latest",
                     registry_near(legacy.input().region.value_or("")), image->name);
}

}  // namespace autopack::job
