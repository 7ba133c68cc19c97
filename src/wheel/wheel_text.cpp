#include "wheel/wheel_text.hpp"

#include "base/text.hpp"
#include "image/inflate.hpp"
#include "python/name.hpp"
#include "wheel/texts.hpp"
#include "wheel/zip_fields.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace autopack::wheel {

namespace {

constexpr auto* format_text =
    "Wheel-Version: 1.0\n"
    "Generator: autopack\n"
    "Root-Is-Purelib: true\n"
    "Tag: py3-none-any\n";

constexpr unsigned made_on_unix{3U << 8U | 20U};  // made by version 2.0 of the format
constexpr unsigned oldest_reader{20};
constexpr unsigned oldest_date{1U << 5U | 1U};  // 1980-01-01
constexpr std::uint64_t plain_file{std::uint64_t{0100644} << 16U};

std::string number(std::uint64_t value, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += static_cast<char>(value >> (8 * i) & 0xffU);
  }
  return bytes;
}

/// Returns an archive of uncompressed members (APPNOTE 4.3).
std::string zip_of(const std::map<std::string, std::string>& files) {
  std::string members;
  std::string directory;
  for (const auto& [name, bytes] : files) {
    const std::string facts = number(oldest_reader, 2) + number(zip_flag::utf8, 2) + number(0, 4) +
                              number(oldest_date, 2) + number(image::crc32(0, bytes), 4) +
                              number(bytes.size(), 4) + number(bytes.size(), 4) +
                              number(name.size(), 2) + number(0, 2);
    directory += "PK\1\2" + number(made_on_unix, 2) + facts + number(0, 6) + number(plain_file, 4) +
                 number(members.size(), 4) + name;
    members += "PK\3\4" + facts + name + bytes;
  }
  return members + directory + "PK\5\6" + number(0, 4) + number(files.size(), 2) +
         number(files.size(), 2) + number(directory.size(), 4) + number(members.size(), 4) +
         number(0, 2);
}

}  // namespace

std::string wheel_text(const std::string& name,
                       const std::string& version,
                       std::map<std::string, std::string> files) {
  const std::string info = wheel_stem(name, version) + ".dist-info/";
  files[info + "WHEEL"] = format_text;
  std::vector<RecordRow> rows{{.path = info + "RECORD"}};
  for (const auto& [path, bytes] : files) {
    rows.push_back(
        {.path = path, .hash = record_hash(bytes), .size = std::to_string(bytes.size())});
  }
  files[info + "RECORD"] = write_record(std::move(rows));
  return zip_of(files);
}

std::string wheel_stem(std::string_view name, std::string_view version) {
  return replace_all(python::normalise_name(name), "-", "_") + "-" + std::string{version};
}

}  // namespace autopack::wheel
