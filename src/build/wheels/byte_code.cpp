#include "build/wheels/byte_code.hpp"

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "image/file_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace autopack::build {

namespace {

/// Increment this if the same sources give a different layer.
constexpr int format{1};

/// Size of sources for one run of the compiler: its output is kept in memory.
constexpr std::size_t most_at_once{std::size_t{8} << 20U};
constexpr std::chrono::minutes longest_run{10};

/// Reads numbers of eight bytes, and texts whose length is such a number. Prints the tag in names
/// of byte code, then the byte code of each source; empty if it does not compile.
constexpr auto* program = R"(import sys
sys.path[:] = [path for path in sys.path if path]
import importlib._bootstrap_external as made, importlib.util as util
read, write = sys.stdin.buffer.read, sys.stdout.buffer.write
def number():
    return int.from_bytes(read(8), "little")
def put(data):
    write(len(data).to_bytes(8, "little") + data)
put(sys.implementation.cache_tag.encode())
for _ in range(number()):
    path = read(number()).decode("utf-8", "surrogateescape")
    source = read(number())
    try:
        code = compile(source, path, "exec", dont_inherit=True, optimize=0)
        put(bytes(made._code_to_hash_pyc(code, util.source_hash(source), False)))
    except Exception:
        put(b"")
sys.stdout.flush()
)";

constexpr auto* question = R"(import sys
print(sys.implementation.name, sys.version.split()[0], sys.version_info.releaselevel, sys.implementation.cache_tag)
)";

std::map<std::string, std::string> settings() {
  // The order of sets, which may be constants, depends on the seed.
  return {{"PYTHONHASHSEED", "0"}, {"PYTHONPATH", ""}, {"PYTHONWARNINGS", "ignore"}};
}

std::vector<std::string> command(const std::string& python, const char* code) {
  return {python, "-s", "-S", "-B", "-W", "ignore", "-c", code};
}

std::optional<std::string> series_of(const python::Version& version) {
  const auto& release = version.release;
  return release.size() < 2 ? std::nullopt
                            : std::optional{fmt::format("{}.{}", release[0], release[1])};
}

/// Returns a program's `cpython 3.11.2 final cpython-311`; nothing if it is not a Python.
std::optional<std::string> answer_of(const std::string& python, const Cancellation* cancellation) {
  const auto result = run_process(command(python, question), "",
                                  {.environment = settings(),
                                   .timeout = std::chrono::seconds{20},
                                   .cancellation = cancellation});
  return result && result->status == 0 ? std::optional<std::string>{trim(result->output)}
                                       : std::nullopt;
}

bool fits(const std::string& answer, const python::Interpreter& interpreter) {
  const auto words = split(answer, ' ');
  const auto version = words.size() == 4 ? python::Version::parse(words[1]) : std::nullopt;
  return version && words[0] == interpreter.implementation && words[2] == "final" &&
         series_of(*version) == series_of(interpreter.version);
}

/// Parses the compiler's output.
class Answer {
public:
  explicit Answer(std::string_view text) : text_{text} {}

  std::string_view next() {
    const auto size = number();
    return take(size);
  }

  void end() const {
    if (!text_.empty()) {
      fail();
    }
  }

private:
  std::uint64_t number() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char byte : take(8)) {
      value |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }

  std::string_view take(std::uint64_t size) {
    if (size > text_.size()) {
      fail();
    }
    const auto part = text_.substr(0, size);
    text_.remove_prefix(size);
    return part;
  }

  [[noreturn]] static void fail() {
    throw Error(ErrorKind::environment, "Python answered something else than byte code");
  }

  std::string_view text_;
};

void put_number(std::string& text, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) {
    text += static_cast<char>(value & 0xFFU);
    value >>= 8U;
  }
}

void put(std::string& text, std::string_view bytes) {
  put_number(text, bytes.size());
  text += bytes;
}

/// Converts `a/b/name.py` to `a/b/__pycache__/name.TAG.pyc`.
std::string compiled_path(const std::string& path, std::string_view tag) {
  const auto slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const auto name = path.substr(directory.size(), path.size() - directory.size() - 3);
  return fmt::format("{}__pycache__/{}.{}.pyc", directory, name, tag);
}

bool is_tag(std::string_view tag) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !tag.empty() && tag.size() < 40 && std::ranges::all_of(tag, good);
}

/// Writes a layer of byte code, one batch of sources at a time.
class Writing {
public:
  Writing(const ByteCompiler& compiler, const image::LayerWriter::Take& out, std::int64_t time)
      : compiler_{compiler}, layer_{out, time} {}

  void add(const std::string& path, std::string text) {
    size_ += text.size();
    sources_.push_back({.path = path, .text = std::move(text)});
    if (size_ > most_at_once) {
      compile();
    }
  }

  image::LayerFacts finish() {
    compile();
    return layer_.finish();
  }

private:
  void compile() {
    if (sources_.empty()) {
      return;
    }
    for (const auto& module : compile_sources(compiler_, sources_)) {
      if (module.bytes) {
        if (auto directory = module.path.substr(0, module.path.rfind('/'));
            directories_.insert(directory).second) {
          layer_.add_directory(directory);
        }
        layer_.add_file(module.path, 0644, *module.bytes);
      }
    }
    sources_.clear();
    size_ = 0;
  }

  const ByteCompiler& compiler_;
  image::FileLayer layer_;
  std::vector<SourceModule> sources_{};
  std::size_t size_{0};
  std::set<std::string> directories_{};
};

}  // namespace

std::vector<std::string> byte_compiler_command(const std::string& python) {
  return command(python, program);
}

std::map<std::string, std::string> byte_compiler_environment() {
  return settings();
}

std::optional<ByteCompiler> find_compiler_here(const Services& services,
                                               const python::Interpreter& interpreter) {
  const auto series = series_of(interpreter.version);
  if (!series || interpreter.version.pre || interpreter.version.dev ||
      !interpreter.abi_flags.empty() || interpreter.implementation != "cpython") {
    return std::nullopt;
  }
  const auto path = services.environment.get("PATH").value_or("");
  for (const auto& name : {"python" + *series, std::string{"python3"}}) {
    const auto python = find_program(name, path);
    const auto answer = python ? answer_of(*python, services.cancellation) : std::nullopt;
    if (!answer || !fits(*answer, interpreter)) {
      continue;
    }
    return ByteCompiler{
        .words = fmt::format("Python {} of this machine", split(*answer, ' ')[1]),
        .identity = "here " + *answer,
        .run = [python = *python, cancellation = services.cancellation](const std::string& input) {
          const auto result = run_process(
              command(python, program), input,
              {.environment = settings(), .timeout = longest_run, .cancellation = cancellation});
          if (!result || result->status != 0) {
            throw Error(ErrorKind::environment,
                        fmt::format("`{}` could not make byte code", python))
                .cause(result ? printable(trim(result->errors)) : "it is not there");
          }
          return result->output;
        }};
  }
  return std::nullopt;
}

std::vector<CompiledModule> compile_sources(const ByteCompiler& compiler,
                                            const std::vector<SourceModule>& sources) {
  std::string input;
  put_number(input, sources.size());
  for (const auto& source : sources) {
    put(input, "/" + source.path);
    put(input, source.text);
  }
  const std::string output = compiler.run(input);
  Answer answer{output};
  const auto tag = answer.next();
  if (!is_tag(tag)) {
    throw Error(ErrorKind::environment, "Python reported no name for its byte code");
  }
  std::vector<CompiledModule> modules;
  for (const auto& source : sources) {
    modules.push_back(
        {.path = compiled_path(source.path, tag), .bytes = non_empty(std::string{answer.next()})});
  }
  answer.end();
  return modules;
}

std::string byte_code_key(const ByteCompiler& compiler, const std::string& layer_key) {
  return sha256(fmt::format("byte code {} {} {} {}\n{}", format, image::compression_format,
                            image::file_layer_format, layer_key, compiler.identity))
      .hex();
}

LayerRecipe byte_code_of(const std::shared_ptr<const ByteCompiler>& compiler,
                         const wheel::LayerGroup& layer,
                         const LayerRecipe& recipe,
                         const std::shared_ptr<const std::vector<wheel::ChosenWheel>>& wheels,
                         const wheel::Place& place) {
  return {.name = "byte code of " + recipe.name,
          .created_by = "autopack: byte code of " + recipe.name,
          .key = byte_code_key(*compiler, recipe.key),
          .size = recipe.size,
          .write = [compiler, layer, wheels, place](const image::LayerWriter::Take& out,
                                                    const std::optional<image::LayerFacts>&) {
            Writing writing{*compiler, out, place.time};
            wheel::read_sources(layer, *wheels, place,
                                [&](const std::string& path, std::string text) {
                                  writing.add(path, std::move(text));
                                });
            return writing.finish();
          }};
}

}  // namespace autopack::build
