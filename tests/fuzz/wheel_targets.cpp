#include "base/error.hpp"
#include "build/wheels/static_layout.hpp"
#include "gpu/code_reader.hpp"
#include "python/wheel_name.hpp"
#include "scratch.hpp"
#include "target.hpp"
#include "wheel/installation.hpp"
#include "wheel/texts.hpp"
#include "wheel/zip.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

/// Wheels, and the texts in them.
namespace autopack::fuzz {

namespace {

void zip(std::string_view bytes) {
  const auto archive = wheel::Zip::open(put(scratch() / "it.zip", bytes), "it.zip");
  std::uint64_t packed = 0;
  for (const auto& member : archive.members()) {
    packed += member.compressed_size;
    if (wheel::name_fault(member.name) || archive.find(member.name) == nullptr) {
      fail("a member is called `" + member.name + "`");
    }
    if (member.compressed_size > bytes.size() || packed > bytes.size()) {
      fail("members share bytes");
    }
    archive.beginning(member, 100);
    std::uint64_t size = 0;
    try {
      archive.read(member, [&](std::string_view piece) { size += piece.size(); });
    } catch (const Error&) {
      continue;
    }
    if (size != member.size) {
      fail("`" + member.name + "` has another size");
    }
  }
}

void wheel_archive(std::string_view bytes) {
  const auto path = put(scratch() / "odd-1.0-py3-none-any.whl", bytes);
  const auto opened = wheel::Wheel::open(path, path.filename().string());
  const python::Interpreter interpreter{.executable = "/p/bin/python3",
                                        .version = python::Version::parse("3.11.2").value(),
                                        .scheme = {.purelib = "/p/lib",
                                                   .platlib = "/p/lib64",
                                                   .scripts = "/p/bin",
                                                   .headers = "/p/include",
                                                   .data = "/p"}};
  std::set<std::string> paths;
  for (const auto& file : wheel::install(opened, interpreter)) {
    if (!file.path.starts_with("p/") || wheel::name_fault(file.path) ||
        !paths.insert(file.path).second) {
      fail("a file is written to `" + file.path + "`");
    }
    if (file.member != nullptr) {
      opened.read(*file.member, [](std::string_view) {});
    }
  }
}

/// The setup.py and the PKG-INFO of a source distribution, which may become a wheel.
void source_distribution(std::string_view bytes) {
  const auto setup = project::read_setup_py(next_part(bytes));
  if (!setup.certain_files) {
    return;
  }
  const auto [name, text] = build::lay_out(setup, {{"PKG-INFO", std::string{bytes}},
                                                   {"LICENSE", ""},
                                                   {"a/__init__.py", ""},
                                                   {"a/b/__init__.py", ""},
                                                   {"a/b/c.json", ""},
                                                   {"a.egg-info/SOURCES.txt", "a/b/c.json\n"},
                                                   {"bin/x", "#!/usr/bin/python\n"},
                                                   {"d.py", ""}});
  wheel::Zip::open(put(scratch() / name, text), name);
  if (!python::WheelName::parse(name)) {
    fail("a wheel is called `" + name + "`");
  }
}

void wheel_texts(std::string_view bytes) {
  const unsigned kind = next_byte(bytes) % 4;
  if (kind == 0) {
    wheel::read_metadata(bytes);
  } else if (kind == 1) {
    wheel::read_format(bytes);
  } else if (kind == 2) {
    wheel::read_entry_points(bytes);
  } else {
    const auto rows = wheel::read_record(bytes);
    const auto text = wheel::write_record(rows);
    if (wheel::write_record(wheel::read_record(text)) != text) {
      fail("RECORD does not come back");
    }
    for (const auto& row : rows) {
      wheel::recorded_hash(row);
    }
  }
}

std::optional<gpu::LibraryCode> gpu_code_in_pieces(std::string_view bytes, std::size_t size) {
  gpu::CodeReader reader;
  while (!bytes.empty()) {
    reader.take(bytes.substr(0, size));
    bytes.remove_prefix(std::min(size, bytes.size()));
  }
  return reader.finish();
}

void gpu_code(std::string_view bytes) {
  const std::size_t piece = next_byte(bytes) + std::size_t{1};
  const auto whole = gpu_code_in_pieces(bytes, bytes.size());
  if (gpu_code_in_pieces(bytes, piece) != whole) {
    fail("the code depends on the size of the pieces");
  }
  std::uint64_t size = 0;
  for (const auto& code : whole ? whole->code : std::vector<gpu::Code>{}) {
    size += whole->is_damaged ? 0 : code.bytes;
    if (code.count == 0 || code.bytes < code.count * 64) {
      fail("code without entries");
    }
  }
  if (size > bytes.size()) {
    fail("more code than bytes");
  }
}

void gpu_code_json(std::string_view bytes) {
  if (const auto libraries = gpu::libraries_from_json(bytes)) {
    if (gpu::libraries_from_json(gpu::to_json(*libraries)) != libraries) {
      fail("GPU code does not come back");
    }
  }
}

}  // namespace

std::vector<Target> wheel_targets() {
  return {{"gpu_code", gpu_code},
          {"gpu_code_json", gpu_code_json},
          {"zip", zip},
          {"wheel_archive", wheel_archive},
          {"wheel_texts", wheel_texts},
          {"source_distribution", source_distribution}};
}

}  // namespace autopack::fuzz
