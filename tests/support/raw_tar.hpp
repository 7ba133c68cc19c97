#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace autopack {

/// Writes any header, also those that TarWriter refuses.
class RawTar {
public:
  void add(const std::string& path,
           char type,
           const std::string& content = "",
           const std::string& link = "",
           unsigned mode = 0644,
           unsigned owner = 0,
           unsigned device_major = 0,
           unsigned device_minor = 0) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, const std::string& text) {
      header.replace(at, text.size(), text);
    };
    const auto octal = [](std::size_t number, int digits) {
      std::string text(static_cast<std::size_t>(digits), '0');
      for (auto digit = text.rbegin(); number > 0; ++digit, number /= 8) {
        *digit = static_cast<char>('0' + number % 8);
      }
      return text;
    };
    put(0, path);
    put(100, octal(mode, 7));
    put(108, octal(owner, 7));
    put(116, octal(owner, 7));
    put(124, octal(content.size(), 11));
    put(136, octal(1'000'000'000, 11));
    put(148, std::string(8, ' '));
    header[156] = type;
    put(157, link);
    put(257, std::string{"ustar\0"
                         "00",
                         8});
    put(329, octal(device_major, 7));
    put(337, octal(device_minor, 7));
    std::size_t sum = 0;
    for (const char byte : header) {
      sum += static_cast<unsigned char>(byte);
    }
    put(148, octal(sum, 6) + std::string{"\0 ", 2});
    bytes_ += header + content;
    bytes_.append((512 - content.size() % 512) % 512, '\0');
  }

  void file(const std::string& path, const std::string& content, unsigned mode = 0644) {
    add(path, '0', content, "", mode);
  }

  void directory(const std::string& path, unsigned mode = 0755) { add(path, '5', "", "", mode); }

  void symlink(const std::string& path, const std::string& target) { add(path, '2', "", target); }

  void hard_link(const std::string& path, const std::string& target) { add(path, '1', "", target); }

  /// Gives the entry that follows these extended attributes.
  void attributes(const std::map<std::string, std::string>& all) {
    std::string records;
    for (const auto& [name, value] : all) {
      const std::string rest = " SCHILY.xattr." + name + "=" + value + "\n";
      std::size_t size = rest.size() + 1;
      while (std::to_string(size).size() + rest.size() != size) {
        ++size;
      }
      records += std::to_string(size) + rest;
    }
    add("PaxHeaders.0/x", 'x', records);
  }

  std::string bytes() const { return bytes_ + std::string(1024, '\0'); }

private:
  std::string bytes_{};
};

}  // namespace autopack
