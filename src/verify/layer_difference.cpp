#include "verify/layer_difference.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "image/archive_reader.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

namespace autopack::verify {

namespace {

using image::ArchiveEntry;

/// What is compared of an entry.
struct EntryFacts {
  ArchiveEntry entry{};
  std::string hash{};  ///< of a file's content
};

using Entries = std::map<std::string, EntryFacts>;

Error beyond_limit(const std::string& layer, const std::string& what) {
  return Error(ErrorKind::environment, fmt::format("{} has more than {}", layer, what));
}

Entries read_entries(const NamedLayer& layer,
                     const Cancellation& cancellation,
                     const LayerLimits& limits) {
  Entries entries;
  std::uint64_t bytes = 0;
  image::read_contents(
      layer.reader, layer.name, [&](const ArchiveEntry& entry, const image::Reader& content) {
        cancellation.throw_if_requested();
        Sha256 hash;
        if (entry.type == ArchiveEntry::Type::file) {
          image::read_all(content, [&](std::string_view piece) {
            bytes += piece.size();
            if (bytes > limits.bytes) {
              throw beyond_limit(layer.name, human_size(limits.bytes));
            }
            hash.update(piece);
          });
        }
        entries.insert_or_assign(image::normal_path(entry.path),
                                 EntryFacts{.entry = entry, .hash = hash.finish().hex()});
        if (entries.size() > limits.entries) {
          throw beyond_limit(layer.name, fmt::format("{} files", limits.entries));
        }
      });
  return entries;
}

std::string type_name(const ArchiveEntry& entry) {
  switch (entry.type) {
    case ArchiveEntry::Type::file: return "a file";
    case ArchiveEntry::Type::directory: return "a directory";
    case ArchiveEntry::Type::symlink: return "a link";
    case ArchiveEntry::Type::hard_link: return "a hard link";
    case ArchiveEntry::Type::other: break;
  }
  return "a device or pipe";
}

std::string instead(const std::string& what, const std::string& one, const std::string& other) {
  return fmt::format("its {} is {} instead of {}", what, one, other);
}

std::string owner_of(const ArchiveEntry& entry) {
  return fmt::format("{}:{}", entry.user, entry.group);
}

/// Returns what differs, or nothing.
std::optional<std::string> what_differs(const EntryFacts& one, const EntryFacts& other) {
  const auto& ours = one.entry;
  const auto& theirs = other.entry;
  if (ours.type != theirs.type) {
    return fmt::format("it is {} instead of {}", type_name(ours), type_name(theirs));
  }
  if (ours.size != theirs.size) {
    return instead("size", std::to_string(ours.size), std::to_string(theirs.size));
  }
  if (one.hash != other.hash) {
    return "its content";
  }
  if (ours.link != theirs.link) {
    return fmt::format("its target is `{}` instead of `{}`", printable(ours.link),
                       printable(theirs.link));
  }
  if (ours.mode != theirs.mode) {
    return instead("mode", fmt::format("{:04o}", ours.mode), fmt::format("{:04o}", theirs.mode));
  }
  if (owner_of(ours) != owner_of(theirs)) {
    return instead("owner", owner_of(ours), owner_of(theirs));
  }
  if (ours.time != theirs.time) {
    return instead("time", std::to_string(ours.time), std::to_string(theirs.time));
  }
  if (ours.attributes != theirs.attributes) {
    return "its extended attributes";
  }
  const bool is_same_device = ours.special == theirs.special &&
                              ours.device_major == theirs.device_major &&
                              ours.device_minor == theirs.device_minor;
  return is_same_device ? std::nullopt : std::optional<std::string>{"the device"};
}

}  // namespace

LayerDifference difference(const NamedLayer& image,
                           const NamedLayer& rebuilt,
                           const Cancellation& cancellation,
                           const LayerLimits& limits) {
  const auto ours = read_entries(image, cancellation, limits);
  const auto theirs = read_entries(rebuilt, cancellation, limits);
  LayerDifference found;
  const auto add = [&](const std::string& path, std::string what) {
    ++found.count;
    if (found.files.size() < limits.reported) {
      found.files.push_back({.path = path, .what = std::move(what)});
    }
  };
  auto there = theirs.begin();
  for (const auto& [path, facts] : ours) {
    for (; there != theirs.end() && there->first < path; ++there) {
      add(there->first, "the image does not have it");
    }
    if (there == theirs.end() || there->first != path) {
      add(path, "the rebuilt image does not have it");
      continue;
    }
    if (auto what = what_differs(facts, there->second)) {
      add(path, std::move(*what));
    }
    ++there;
  }
  for (; there != theirs.end(); ++there) {
    add(there->first, "the image does not have it");
  }
  return found;
}

}  // namespace autopack::verify
