// Installs wheels, one per line of the standard input, fields between tabs:
//
//     WHEEL DIRECTORY REQUESTED DIRECT_URL NAME
//
// below DIRECTORY for the interpreter that the arguments describe; REQUESTED is yes or no,
// DIRECT_URL a file or nothing, NAME the requirement's or nothing. Answers with `ok`, or with what
// is wrong, and warnings behind it, between tabs.

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "image/tar.hpp"
#include "python/interpreter.hpp"
#include "python/name.hpp"
#include "wheel/layers.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace autopack;
namespace fs = std::filesystem;

namespace {

void write(const wheel::Wheel& wheel, const wheel::InstalledFile& file, const fs::path& path) {
  fs::create_directories(path.parent_path());
  {
    std::ofstream out{path, std::ios::binary | std::ios::trunc};
    const auto take = [&](std::string_view bytes) {
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    };
    if (file.member == nullptr) {
      take(file.bytes);
    } else {
      wheel.read(*file.member, take);
    }
  }
  fs::permissions(path, fs::perms{file.mode});
}

wheel::InstallOptions options_of(const std::vector<std::string>& question) {
  wheel::InstallOptions options{.is_requested = question.at(2) == "yes"};
  if (!question.at(3).empty()) {
    options.direct_url = read_file(question.at(3));
  }
  if (!question.at(4).empty()) {
    options.header_name = question.at(4);
  }
  return options;
}

std::string install(const std::vector<std::string>& question,
                    const python::Interpreter& interpreter) {
  const fs::path path{question.at(0)};
  try {
    const auto wheel = wheel::Wheel::open(path, path.filename().string());
    for (const auto& file : wheel::install(wheel, interpreter, options_of(question))) {
      write(wheel, file, fs::path{question.at(1)} / file.path);
    }
    std::string answer{"ok"};
    for (const auto& warning : wheel.warnings()) {
      answer += "\t" + warning.message;
    }
    return answer;
  } catch (const Error& error) {
    return error.message() + ": " + join(error.causes(), ": ");
  }
}

wheel::ChosenWheel chosen(const std::vector<std::string>& question) {
  const fs::path path{question.at(0)};
  std::ifstream file{path, std::ios::binary};
  Sha256 hash;
  std::string piece(1U << 20U, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    hash.update({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  wheel::ChosenWheel wheel{.name = path.filename().string(),
                           .digest = hash.finish(),
                           .size = fs::file_size(path),
                           .file_name = path.filename().string(),
                           .options = options_of(question),
                           .file = [path] { return path; }};
  wheel.name = python::normalise_name(wheel.name.substr(0, wheel.name.find('-')));
  return wheel;
}

image::LayerFacts write(const wheel::LayerGroup& layer,
                        const std::vector<wheel::ChosenWheel>& wheels,
                        const wheel::Place& place,
                        const fs::path& path,
                        const std::optional<image::LayerFacts>& known) {
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  return wheel::write_layer(
      layer, wheels, place,
      [&](std::string_view bytes) {
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      },
      known);
}

/// Writes each layer twice, the second time with known facts.
void pack(const std::vector<wheel::ChosenWheel>& wheels,
          const python::Interpreter& interpreter,
          const fs::path& directory,
          std::size_t most_layers) {
  const wheel::Place place{.interpreter = interpreter, .time = image::default_file_time};
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const auto grouping = wheel::group(wheels, place, most_layers);
  std::cerr << "grouped after " << since() << " s\n";
  std::vector<image::LayerFacts> facts;
  for (std::size_t i = 0; i < grouping.layers.size(); ++i) {
    const auto& layer = grouping.layers[i];
    const auto path = directory / (std::to_string(i) + ".tar.gz");
    facts.push_back(write(layer, wheels, place, path, {}));
    std::cout << path.string() << '\t' << facts.back().digest.str() << '\t'
              << facts.back().diff_id.str();
    for (const std::size_t wheel : layer.wheels) {
      std::cout << '\t' << wheels[wheel].file_name;
    }
    std::cout << std::endl;
  }
  std::cerr << "packed after " << since() << " s\n";
  for (std::size_t i = 0; i < grouping.layers.size(); ++i) {
    const auto again = write(grouping.layers[i], wheels, place, "/dev/null", facts[i]);
    if (again.digest != facts[i].digest || again.tar_size != facts[i].tar_size) {
      std::cout << "layer " << i << " differs the second time\n";
    }
  }
  std::cerr << "packed again after " << since() << " s\n";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 8 && count != 10) {
    std::cerr << "wheel_files EXECUTABLE VERSION PURELIB PLATLIB SCRIPTS HEADERS DATA [DIRECTORY "
                 "NUMBER]\n";
    return 2;
  }
  python::Interpreter interpreter;
  interpreter.executable = arguments[1];
  interpreter.version = python::Version::parse(arguments[2]).value();
  interpreter.scheme = {.purelib = arguments[3],
                        .platlib = arguments[4],
                        .scripts = arguments[5],
                        .headers = arguments[6],
                        .data = arguments[7]};
  std::vector<wheel::ChosenWheel> wheels;
  for (std::string line; std::getline(std::cin, line);) {
    const auto question = split(line, '\t');
    if (count == 10) {
      wheels.push_back(chosen(question));
    } else {
      std::cout << install(question, interpreter) << std::endl;
    }
  }
  if (count == 10) {
    pack(wheels, interpreter, arguments[8], static_cast<std::size_t>(std::atoi(arguments[9])));
  }
  return 0;
}
