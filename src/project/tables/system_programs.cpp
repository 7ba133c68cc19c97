#include "project/tables/system_programs.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

struct ProgramRow {
  std::string_view program{};
  std::string_view package{};
};

constexpr std::array packages_of_debian{ProgramRow{"ffmpeg", "ffmpeg"},
                                        ProgramRow{"ffprobe", "ffmpeg"},
                                        ProgramRow{"ffplay", "ffmpeg"},
                                        ProgramRow{"sox", "sox"},
                                        ProgramRow{"soxi", "sox"},
                                        ProgramRow{"play", "sox"},
                                        ProgramRow{"lame", "lame"},
                                        ProgramRow{"flac", "flac"},
                                        ProgramRow{"mpg123", "mpg123"},
                                        ProgramRow{"mediainfo", "mediainfo"},
                                        ProgramRow{"mkvmerge", "mkvtoolnix"},
                                        ProgramRow{"espeak", "espeak"},
                                        ProgramRow{"espeak-ng", "espeak-ng"},
                                        ProgramRow{"git", "git"},
                                        ProgramRow{"git-lfs", "git-lfs"},
                                        ProgramRow{"svn", "subversion"},
                                        ProgramRow{"curl", "curl"},
                                        ProgramRow{"wget", "wget"},
                                        ProgramRow{"aria2c", "aria2"},
                                        ProgramRow{"rsync", "rsync"},
                                        ProgramRow{"ssh", "openssh-client"},
                                        ProgramRow{"scp", "openssh-client"},
                                        ProgramRow{"make", "make"},
                                        ProgramRow{"gcc", "gcc"},
                                        ProgramRow{"cc", "gcc"},
                                        ProgramRow{"g++", "g++"},
                                        ProgramRow{"c++", "g++"},
                                        ProgramRow{"gfortran", "gfortran"},
                                        ProgramRow{"clang", "clang"},
                                        ProgramRow{"ld", "binutils"},
                                        ProgramRow{"cargo", "cargo"},
                                        ProgramRow{"rustc", "rustc"},
                                        ProgramRow{"go", "golang-go"},
                                        ProgramRow{"javac", "default-jdk-headless"},
                                        ProgramRow{"java", "default-jre-headless"},
                                        ProgramRow{"perl", "perl"},
                                        ProgramRow{"ruby", "ruby"},
                                        ProgramRow{"node", "nodejs"},
                                        ProgramRow{"npm", "npm"},
                                        ProgramRow{"Rscript", "r-base-core"},
                                        ProgramRow{"R", "r-base-core"},
                                        ProgramRow{"julia", "julia"},
                                        ProgramRow{"lua", "lua5.4"},
                                        ProgramRow{"php", "php-cli"},
                                        ProgramRow{"unzip", "unzip"},
                                        ProgramRow{"zip", "zip"},
                                        ProgramRow{"7z", "p7zip-full"},
                                        ProgramRow{"7za", "p7zip-full"},
                                        ProgramRow{"unrar", "unrar-free"},
                                        ProgramRow{"pigz", "pigz"},
                                        ProgramRow{"zstd", "zstd"},
                                        ProgramRow{"lz4", "lz4"},
                                        ProgramRow{"xz", "xz-utils"},
                                        ProgramRow{"bzip2", "bzip2"},
                                        ProgramRow{"bunzip2", "bzip2"},
                                        ProgramRow{"jq", "jq"},
                                        ProgramRow{"bc", "bc"},
                                        ProgramRow{"file", "file"},
                                        ProgramRow{"parallel", "parallel"},
                                        ProgramRow{"tmux", "tmux"},
                                        ProgramRow{"screen", "screen"},
                                        ProgramRow{"vim", "vim"},
                                        ProgramRow{"sudo", "sudo"},
                                        ProgramRow{"ps", "procps"},
                                        ProgramRow{"pkill", "procps"},
                                        ProgramRow{"pgrep", "procps"},
                                        ProgramRow{"numactl", "numactl"},
                                        ProgramRow{"xvfb-run", "xvfb"},
                                        ProgramRow{"Xvfb", "xvfb"},
                                        ProgramRow{"convert", "imagemagick"},
                                        ProgramRow{"mogrify", "imagemagick"},
                                        ProgramRow{"identify", "imagemagick"},
                                        ProgramRow{"montage", "imagemagick"},
                                        ProgramRow{"gs", "ghostscript"},
                                        ProgramRow{"pdftoppm", "poppler-utils"},
                                        ProgramRow{"pdftotext", "poppler-utils"},
                                        ProgramRow{"tesseract", "tesseract-ocr"},
                                        ProgramRow{"pandoc", "pandoc"},
                                        ProgramRow{"dot", "graphviz"},
                                        ProgramRow{"pdflatex", "texlive-latex-base"},
                                        ProgramRow{"protoc", "protobuf-compiler"},
                                        ProgramRow{"swig", "swig"},
                                        ProgramRow{"sqlite3", "sqlite3"},
                                        ProgramRow{"psql", "postgresql-client"},
                                        ProgramRow{"redis-server", "redis-server"},
                                        ProgramRow{"lsof", "lsof"},
                                        ProgramRow{"lspci", "pciutils"},
                                        ProgramRow{"ip", "iproute2"},
                                        ProgramRow{"ping", "iputils-ping"},
                                        ProgramRow{"nc", "netcat-openbsd"},
                                        ProgramRow{"samtools", "samtools"},
                                        ProgramRow{"bcftools", "bcftools"},
                                        ProgramRow{"bedtools", "bedtools"},
                                        ProgramRow{"bwa", "bwa"},
                                        ProgramRow{"bowtie2", "bowtie2"},
                                        ProgramRow{"blastn", "ncbi-blast+"},
                                        ProgramRow{"hmmscan", "hmmer"},
                                        ProgramRow{"hmmsearch", "hmmer"},
                                        ProgramRow{"mafft", "mafft"},
                                        ProgramRow{"mkdssp", "dssp"},
                                        ProgramRow{"obabel", "openbabel"},
                                        ProgramRow{"exiftool", "libimage-exiftool-perl"},
                                        ProgramRow{"blender", "blender"},
                                        ProgramRow{"perf", "linux-perf"},
                                        ProgramRow{"gdb", "gdb"},
                                        ProgramRow{"strace", "strace"}};

/// Programs with other names in packages than those above.
constexpr std::array more_programs{ProgramRow{"make", "build-essential"},
                                   ProgramRow{"gcc", "build-essential"},
                                   ProgramRow{"cc", "build-essential"},
                                   ProgramRow{"g++", "build-essential"},
                                   ProgramRow{"c++", "build-essential"},
                                   ProgramRow{"ld", "build-essential"},
                                   ProgramRow{"perl", "build-essential"},
                                   ProgramRow{"gcc", "g++"},
                                   ProgramRow{"cc", "g++"},
                                   ProgramRow{"perl", "git"},
                                   ProgramRow{"git", "git-lfs"},
                                   ProgramRow{"python", "python-is-python3"},
                                   ProgramRow{"python3", "python3"},
                                   ProgramRow{"python3", "python3-pip"},
                                   ProgramRow{"pip", "python3-pip"},
                                   ProgramRow{"pip3", "python3-pip"},
                                   ProgramRow{"python3", "python3-venv"},
                                   ProgramRow{"python3", "python3-dev"},
                                   ProgramRow{"", "libgl1"},
                                   ProgramRow{"", "libglib2.0-0"},
                                   ProgramRow{"", "libsndfile1"},
                                   ProgramRow{"", "ca-certificates"},
                                   ProgramRow{"", "libgomp1"},
                                   ProgramRow{"", "openssh-client"},
                                   ProgramRow{"mpirun", "openmpi-bin"},
                                   ProgramRow{"mpiexec", "openmpi-bin"},
                                   ProgramRow{"mpirun", "libopenmpi-dev"}};

constexpr std::array<ProgramRow, 16> of_pip{{{"torchrun", "torch"},
                                             {"accelerate", "accelerate"},
                                             {"deepspeed", "deepspeed"},
                                             {"uv", "uv"},
                                             {"uvx", "uv"},
                                             {"poetry", "poetry"},
                                             {"pipenv", "pipenv"},
                                             {"pdm", "pdm"},
                                             {"hatch", "hatch"},
                                             {"dvc", "dvc"},
                                             {"wandb", "wandb"},
                                             {"gdown", "gdown"},
                                             {"kaggle", "kaggle"},
                                             {"huggingface-cli", "huggingface-hub"},
                                             {"hf", "huggingface-hub"},
                                             {"lightning", "lightning"}}};

template <std::size_t count>
std::optional<std::string_view> find_package(const std::array<ProgramRow, count>& rows,
                                             std::string_view program) {
  const auto* const found =
      std::ranges::find_if(rows, [&](const ProgramRow& row) { return row.program == program; });
  return found == rows.end() ? std::nullopt : std::optional{found->package};
}

}  // namespace

std::optional<std::string_view> package_of_program(std::string_view program) {
  return find_package(packages_of_debian, program);
}

std::optional<bool> is_in_packages(std::string_view program,
                                   const std::vector<std::string>& packages) {
  bool is_known = true;
  for (const auto& package : packages) {
    bool is_in_table = false;
    const auto is_row = [&](const ProgramRow& row) {
      is_in_table = is_in_table || row.package == package;
      return row.package == package && row.program == program;
    };
    if (std::ranges::any_of(packages_of_debian, is_row) ||
        std::ranges::any_of(more_programs, is_row)) {
      return true;
    }
    is_known = is_known && is_in_table;
  }
  return is_known ? std::optional{false} : std::nullopt;
}

std::optional<std::string_view> distribution_of_program(std::string_view program) {
  return find_package(of_pip, program);
}

}  // namespace autopack::project
