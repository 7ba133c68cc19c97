#include "wheel/layers.hpp"

#include "image/file_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace autopack::wheel {

namespace {

/// Increase this if the same wheels give different layers or groups.
constexpr int format{2};

/// Nobody writes a larger module by hand; Python compiles it when it is imported.
constexpr std::uint64_t largest_source{std::uint64_t{16} << 20U};

/// Hashes a list of texts with their lengths, so that no two lists give the same key.
class Key {
public:
  explicit Key(std::string_view kind) {
    add(kind);
    add(fmt::format("{} {} {}", format, image::compression_format, image::file_layer_format));
  }

  Key& add(std::string_view text) {
    hash_.update(fmt::format("{}:", text.size()));
    hash_.update(text);
    return *this;
  }

  Key& add(const ChosenWheel& wheel) {
    const auto& options = wheel.options;
    add(wheel.digest.str()).add(wheel.name).add(wheel.file_name);
    add(options.header_name ? "headers " + *options.header_name : "");
    add(options.direct_url ? "from " + *options.direct_url : "");
    return add(options.is_requested ? "requested" : "");
  }

  Key& add(const Place& place) {
    const auto& [purelib, platlib, scripts, headers, data] = place.interpreter.scheme;
    add(place.interpreter.executable).add(place.interpreter.version.str());
    add(purelib).add(platlib).add(scripts).add(headers).add(data).add(fmt::to_string(place.time));
    return add(place.directories);
  }

  Key& add(const std::set<std::string>& texts) {
    add(fmt::to_string(texts.size()));
    for (const auto& text : texts) {
      add(text);
    }
    return *this;
  }

  std::string finish() { return hash_.finish().hex(); }

private:
  Sha256 hash_{};
};

/// A wheel and the files that it adds to a layer, which point into it.
struct Opened {
  Wheel wheel;
  std::vector<InstalledFile> files;
};

Opened open(const ChosenWheel& wheel, const Place& place) {
  Opened opened{.wheel = Wheel::open(wheel.file(), wheel.file_name), .files = {}};
  opened.files = install(opened.wheel, place.interpreter, wheel.options);
  return opened;
}

/// Returns what passes bytes to `first` and, unless it is empty, to `second`.
Zip::Take both(const Zip::Take& first, const Watch::Take& second) {
  if (!second) {
    return first;
  }
  return [&first, &second](std::string_view bytes) {
    first(bytes);
    second(bytes);
  };
}

/// Writes the files of wheels, with the directories they need.
class LayerOfWheels {
public:
  LayerOfWheels(const Place& place,
                const std::function<void(std::string_view)>& out,
                const std::optional<image::LayerFacts>& known)
      : place_{place}, layer_{out, place.time, known} {}

  /// `look`, unless it is empty, also gets the bytes of a file of the archive.
  void add(const Wheel& wheel, const InstalledFile& file, const Watch::Take& look) {
    add_directories(file.path);
    if (file.member == nullptr) {
      layer_.add_file(file.path, file.mode, file.bytes);
      return;
    }
    const auto& member = *file.member;
    if (member.method == Member::Method::stored) {
      layer_.add_file(file.path, file.mode, member.size,
                      [&](const Zip::Take& take) { wheel.read(member, both(take, look)); });
      return;
    }
    const auto read = [&](const Zip::Take& stream, const Zip::Take& bytes) {
      if (bytes) {
        wheel.read(member, both(bytes, look), stream);
      } else {
        wheel.zip().raw(member, stream);
      }
    };
    layer_.add_deflated(file.path, file.mode,
                        {.size = member.size, .crc = member.crc, .read = read});
  }

  image::LayerFacts finish() { return layer_.finish(); }

private:
  void add_directories(const std::string& path) {
    const auto last = path.rfind('/');
    if (last == std::string::npos || path.compare(0, last, last_) == 0) {
      return;
    }
    last_ = path.substr(0, last);
    for (auto slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const auto directory = path.substr(0, slash);
      if (!place_.directories.contains(directory) && written_.insert(directory).second) {
        layer_.add_directory(directory);
      }
    }
  }

  const Place& place_;
  image::FileLayer layer_;
  std::string last_{};
  std::set<std::string> written_{};
};

/// A file of a layer.
struct LayerFile {
  std::size_t place;  ///< of its wheel among those of the layer
  const Wheel& wheel;
  const InstalledFile& file;
};

/// Calls `use` with the files of `layer`. Returns how many files each of its wheels has.
std::vector<std::size_t> for_each_file(const LayerGroup& layer,
                                       const std::vector<ChosenWheel>& wheels,
                                       const Place& place,
                                       const std::function<void(const LayerFile& file)>& use) {
  std::vector<Opened> opened;
  opened.reserve(layer.wheels.size());
  std::unordered_map<std::string_view, std::size_t> winners;
  for (const std::size_t i : layer.wheels) {
    opened.push_back(open(wheels.at(i), place));
    for (const auto& file : opened.back().files) {
      winners[file.path] = opened.size() - 1;
    }
  }
  for (std::size_t i = 0; i < opened.size(); ++i) {
    const auto& files = opened[i].files;
    const auto [begin, end] = layer.part.value_or(std::pair{std::size_t{0}, files.size()});
    for (std::size_t at = begin; at < std::min(end, files.size()); ++at) {
      if (winners.at(files[at].path) == i) {
        use({.place = i, .wheel = opened[i].wheel, .file = files[at]});
      }
    }
  }
  std::vector<std::size_t> counts;
  for (const auto& one : opened) {
    counts.push_back(one.files.size());
  }
  return counts;
}

}  // namespace

std::string grouping_key(const std::vector<ChosenWheel>& wheels,
                         const Place& place,
                         std::size_t most_layers) {
  Key key{"grouping"};
  key.add(place).add(fmt::to_string(most_layers));
  for (const auto& wheel : wheels) {
    key.add(wheel);
  }
  return key.finish();
}

std::string wheel_files_key(const ChosenWheel& wheel, const Place& place) {
  return Key{"brought"}.add(place).add(wheel).finish();
}

WheelContents read_wheel(const ChosenWheel& wheel, const Place& place) {
  const auto opened = open(wheel, place);
  return {.files = wheel_files(wheel.name, wheel.digest, wheel.size, opened.files),
          .requirements = opened.wheel.metadata().requires_dist};
}

Grouping group(const std::vector<ChosenWheel>& wheels,
               const Place& place,
               std::size_t most_layers) {
  std::vector<WheelFiles> all;
  all.reserve(wheels.size());
  for (const auto& wheel : wheels) {
    all.push_back(read_wheel(wheel, place).files);
  }
  return group(all, most_layers);
}

std::string layer_key(const LayerGroup& layer,
                      const std::vector<ChosenWheel>& wheels,
                      const Place& place) {
  Key key{"wheels"};
  key.add(place);
  for (const std::size_t i : layer.wheels) {
    key.add(wheels.at(i));
  }
  if (layer.part) {
    key.add(fmt::format("files {} to {}", layer.part->first, layer.part->second));
  }
  return key.finish();
}

image::LayerFacts write_layer(const LayerGroup& layer,
                              const std::vector<ChosenWheel>& wheels,
                              const Place& place,
                              const std::function<void(std::string_view)>& out,
                              const std::optional<image::LayerFacts>& known,
                              const Watch* watch) {
  LayerOfWheels written{place, out, known};
  const bool looks = watch != nullptr && !known;
  std::vector<std::size_t> seen(layer.wheels.size());
  const auto all = for_each_file(layer, wheels, place, [&](const LayerFile& one) {
    ++seen[one.place];
    if (!looks || one.file.member == nullptr) {
      written.add(one.wheel, one.file, {});
      return;
    }
    const auto wheel = layer.wheels[one.place];
    const auto& member = *one.file.member;
    const auto look = watch->begin(wheel, member.name, member.size);
    written.add(one.wheel, one.file, look);
    if (look) {
      watch->end(wheel, member.name, member.size);
    }
  });
  auto facts = written.finish();
  for (std::size_t i = 0; looks && i < all.size(); ++i) {
    watch->wrote(layer.wheels[i], seen[i], all[i]);
  }
  return facts;
}

void read_files(const LayerGroup& layer,
                const std::vector<ChosenWheel>& wheels,
                const Place& place,
                const std::function<bool(const std::string& path)>& wants,
                const std::function<void(const std::string& path, std::string text)>& take) {
  for_each_file(layer, wheels, place, [&](const LayerFile& one) {
    const auto& file = one.file;
    if (wants(file.path) && size_of(file) <= largest_source) {
      std::string text = file.bytes;
      if (file.member != nullptr) {
        one.wheel.read(*file.member, [&](std::string_view bytes) { text += bytes; });
      }
      take(file.path, std::move(text));
    }
  });
}

void read_sources(const LayerGroup& layer,
                  const std::vector<ChosenWheel>& wheels,
                  const Place& place,
                  const std::function<void(const std::string& path, std::string text)>& take) {
  const auto& scheme = place.interpreter.scheme;
  const auto is_module = [&](const std::string& path) {
    const std::string absolute = "/" + path;
    return path.ends_with(".py") && (absolute.starts_with(scheme.purelib + "/") ||
                                     absolute.starts_with(scheme.platlib + "/"));
  };
  read_files(layer, wheels, place, is_module, take);
}

std::string removal_key(const std::set<std::string>& paths, std::int64_t time) {
  return Key{"removal"}.add(paths).add(fmt::to_string(time)).finish();
}

image::LayerFacts write_removal(const std::set<std::string>& paths,
                                std::int64_t time,
                                const std::function<void(std::string_view)>& out) {
  image::FileLayer layer{out, time};
  for (const auto& path : paths) {
    layer.remove(path);
  }
  return layer.finish();
}

}  // namespace autopack::wheel
