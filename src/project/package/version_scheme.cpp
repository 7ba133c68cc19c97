#include "project/package/version_control.hpp"

namespace autopack::project {

namespace {

using python::Version;

/// Returns the next version as guessed by setuptools-scm: increments the last number.
Version next(Version version) {
  if (version.dev) {
    version.dev.reset();
  } else if (version.post) {
    ++*version.post;
  } else if (version.pre) {
    ++version.pre->number;
  } else {
    ++version.release.back();
  }
  return version;
}

/// Returns the release with three numbers, as in semantic versioning.
Version of_three(const Version& version) {
  Version result = version.base();
  result.release.resize(3);
  return result;
}

/// Returns the release of three numbers with the number at `place`, 1 or 2, incremented.
Version next_of_three(const Version& version, std::size_t place) {
  Version result = of_three(version);
  ++result.release[place];
  result.release[2] = place < 2 ? 0 : result.release[2];
  return result;
}

Version between_tags(VersionScheme scheme, const Version& tag, bool is_feature) {
  Version version = tag.without_local();
  switch (scheme) {
    case VersionScheme::tag: return version;
    case VersionScheme::post: version.post = 0; return version;
    case VersionScheme::post_dev:
      if (!version.dev) {
        version.post = 1;
      }
      break;
    case VersionScheme::post_zero_dev: version.post = 0; break;
    case VersionScheme::next_dev: version = next(std::move(version)); break;
    case VersionScheme::next_minor_dev: version = next_of_three(version, 1); break;
    case VersionScheme::semantic_dev: version = next_of_three(version, is_feature ? 1 : 2); break;
  }
  version.dev = 0;
  return version;
}

}  // namespace

std::optional<Version> version_from(const VersionControl& tool,
                                    const source::GitDescription& description) {
  const auto tag =
      description.tag ? tool.pattern.version_of(*description.tag) : Version::parse(tool.untagged);
  if (!tag) {
    return std::nullopt;
  }
  if (description.tag && description.at_tag && !(description.dirty && tool.counts_changes)) {
    return tool.scheme == VersionScheme::semantic_dev ? of_three(*tag) : *tag;
  }
  return between_tags(tool.scheme, *tag,
                      description.branch.value_or("").find("feature") != std::string::npos);
}

}  // namespace autopack::project
