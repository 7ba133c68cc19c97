#include "wheel/wheel.hpp"

#include "base/digest.hpp"
#include "base/text.hpp"
#include "python/name.hpp"
#include "python/wheel_name.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

namespace autopack::wheel {

namespace {

constexpr std::uint64_t largest_metadata{std::uint64_t{8} << 20U};
constexpr std::uint64_t largest_record{std::uint64_t{48} << 20U};
constexpr std::uint64_t largest_small{std::uint64_t{1} << 20U};
constexpr std::string_view suffix{".dist-info"};

/// Returns the first component of a path.
std::string_view top(std::string_view path) {
  return path.substr(0, path.find('/'));
}

bool same_name(std::string_view a, std::string_view b) {
  return python::normalise_name(a) == python::normalise_name(b);
}

}  // namespace

Wheel Wheel::open(const std::filesystem::path& path, const std::string& file_name) {
  const auto name = python::WheelName::parse(file_name);
  if (!name) {
    throw Error(ErrorKind::project, "`" + printable(file_name) + "` cannot be installed")
        .cause(python::wheel_name_fault(file_name).value());
  }
  Wheel wheel{Zip::open(path, file_name)};
  wheel.distribution_ = name->distribution;
  wheel.find_dist_info();
  with_context("`" + printable(file_name) + "` cannot be installed", [&] { wheel.read_texts(); });
  wheel.check_names(name->version);
  wheel.read_hashes();
  return wheel;
}

void Wheel::find_dist_info() {
  std::set<std::string_view> found;
  for (const auto& member : zip_.members()) {
    if (top(member.name).ends_with(suffix)) {
      found.insert(top(member.name));
    }
  }
  if (found.size() != 1) {
    throw zip_.fault(found.empty() ? "it has no `.dist-info` directory"
                                   : "it has several `.dist-info` directories");
  }
  dist_info_ = *found.begin();
  const auto stem = std::string_view{dist_info_}.substr(0, dist_info_.size() - suffix.size());
  if (!same_name(stem.substr(0, stem.rfind('-')), distribution_)) {
    throw zip_.fault("its `" + dist_info_ + "` belongs to another distribution");
  }
}

std::optional<std::string> Wheel::dist_info_text(const char* name, std::uint64_t limit) const {
  const auto* member = zip_.find(dist_info_ + "/" + name);
  return member == nullptr ? std::nullopt : std::optional{zip_.text(*member, limit)};
}

void Wheel::read_texts() {
  const auto text = [&](const char* name, std::uint64_t limit) {
    auto found = dist_info_text(name, limit);
    if (!found) {
      throw Error(ErrorKind::project, "it has no `" + dist_info_ + "/" + name + "`");
    }
    return *std::move(found);
  };
  format_ = read_format(text("WHEEL", largest_small));
  metadata_ = read_metadata(text("METADATA", largest_metadata));
  record_ = read_record(text("RECORD", largest_record));
  entry_points_ = read_entry_points(dist_info_text("entry_points.txt", largest_small).value_or(""));
  if (format_.minor > 0) {
    warn(fmt::format("has format version {}.{}, which is newer than 1.0", format_.major,
                     format_.minor));
  }
}

void Wheel::check_names(const python::Version& said) {
  const auto version = python::Version::parse(metadata_.version);
  if (!same_name(metadata_.name, distribution_)) {
    throw zip_.fault("its METADATA is for `" + printable(metadata_.name) + "`");
  }
  if (!version || (*version != said && version->without_local() != said)) {
    throw zip_.fault("its METADATA is for version `" + printable(metadata_.version) + "`");
  }
  version_ = *version;
}

void Wheel::read_hashes() {
  hashes_.resize(zip_.members().size());
  std::vector<bool> recorded(zip_.members().size());
  for (const auto& row : record_) {
    const auto* member = zip_.find(row.path);
    if (member == nullptr) {
      continue;
    }
    const auto i = static_cast<std::size_t>(member - zip_.members().data());
    const auto hash = with_context("`" + printable(zip_.name()) + "` cannot be installed",
                                   [&] { return recorded_hash(row); });
    if (row.size && row.size != std::to_string(member->size)) {
      throw zip_.fault("`" + member->name + "` does not have the size in RECORD");
    }
    if (hash && hashes_[i] && *hash != *hashes_[i]) {
      throw zip_.fault("RECORD has two hashes for `" + member->name + "`");
    }
    hashes_[i] = hash ? hash : hashes_[i];
    recorded[i] = true;
  }
  std::size_t missing = 0;
  std::size_t links = 0;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto& member = zip_.members()[i];
    const bool is_signature =
        member.name == dist_info_ + "/RECORD.jws" || member.name == dist_info_ + "/RECORD.p7s";
    missing += recorded[i] || is_signature || member.name == dist_info_ + "/RECORD" ? 0U : 1U;
    links += S_ISLNK(member.mode) ? 1U : 0U;
  }
  if (links > 0) {
    warn(fmt::format("holds {} symbolic links: each becomes a file with the link's text", links));
  }
  if (missing > 0) {
    warn(fmt::format("has no hash in RECORD for {} of its files", missing));
  }
}

void Wheel::read(const Member& member, const Zip::Take& take, const Zip::Take& packed) const {
  const auto& wanted = hashes_.at(static_cast<std::size_t>(&member - zip_.members().data()));
  Sha256 hash;
  zip_.read(
      member,
      [&](std::string_view bytes) {
        if (wanted) {
          hash.update(bytes);
        }
        take(bytes);
      },
      packed);
  if (wanted && ContentHash{hash.finish_bytes()} != *wanted) {
    throw zip_.fault("`" + member.name + "` does not have the hash in RECORD");
  }
}

void Wheel::warn(std::string message) {
  warnings_.push_back(Problem::warning({.message = "`" + zip_.name() + "` " + std::move(message)}));
}

}  // namespace autopack::wheel
