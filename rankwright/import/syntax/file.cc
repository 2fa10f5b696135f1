#include "rankwright/import/syntax/file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "rankwright/base/format.h"

namespace rankwright::importer {
namespace {

Diagnostic unreadable(const std::string& path, std::string detail) {
  return {.code = "RW0910",
          .message = "the file cannot be opened",
          .detail = std::move(detail),
          .where = {.file = path}};
}

Diagnostic too_long(const std::string& path, std::size_t max) {
  return unreadable(path, fmt::format("it exceeds the limit of {} bytes", count(i64(max))));
}

/// Reads a pipe until its end.
Result<std::string> read_pipe(const std::string& path, std::size_t max) {
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  char buffer[65536];
  while (text.size() <= max && (stream.read(buffer, sizeof buffer) || stream.gcount() > 0))
    text.append(buffer, std::size_t(stream.gcount()));
  if (text.size() > max) return fail(too_long(path, max));
  if (!stream.eof()) return fail(unreadable(path, "it cannot be read"));
  return text;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  return read_long_file(path, kMaxFileBytes);
}

Result<std::string> read_long_file(const std::string& path, std::size_t max) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return fail(unreadable(path, "no such file"));
  if (std::filesystem::is_directory(status)) return fail(unreadable(path, "it is a directory"));
  if (std::filesystem::is_fifo(status)) return read_pipe(path, max);
  if (!std::filesystem::is_regular_file(status))
    return fail(unreadable(path, "it is neither a regular file nor a pipe"));
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail(unreadable(path, error.message()));
  if (size > max)
    return fail(unreadable(path, fmt::format("it has {} bytes, and the limit is {}",
                                             count(i64(size)), count(i64(max)))));
  std::ifstream stream(path, std::ios::binary);
  std::string text(std::size_t(size), '\0');
  stream.read(text.data(), std::streamsize(text.size()));
  if (!stream) return fail(unreadable(path, "it cannot be read"));
  return text;
}

Result<std::string> refuse_file(const std::string& path) {
  return fail(unreadable(path, "this input may not name files"));
}

std::string beside(std::string_view file, std::string_view name) {
  const std::filesystem::path path(name);
  if (path.is_absolute()) return path.string();
  return (std::filesystem::path(file).parent_path() / path).string();
}

Result<std::string> read_named_file(const FileReader& files, const std::string& file,
                                    const std::string& name) {
  constexpr int kMaxFolders = 8;
  Result<std::string> first = files(beside(file, name));
  if (first) return first;
  // An absolute name is that of another machine: its end may be a name in the repository.
  std::size_t begin = name.starts_with('/') ? name.find('/', 1) : 0;
  for (int end = 0; end < kMaxFolders && begin != std::string::npos; ++end) {
    const std::string part = name.substr(name[begin] == '/' ? begin + 1 : begin);
    const bool whole = part.size() == name.size();
    if (!whole && part.find('/') == std::string::npos) break;  // a bare name could be any file
    std::string path = part;
    for (int i = 0; i < kMaxFolders; ++i) {
      const bool here = i == 0 && whole;
      if (Result<std::string> text = files(here ? part : beside(file, path))) return text;
      path = "../" + path;
    }
    if (whole) break;
    begin = name.find('/', begin + 1);
  }
  return first;
}

bool is_environment_script(std::string_view file) {
  constexpr std::string_view kEnds[] = {".env",     "activate", ".bashrc",    ".profile",
                                        "conda.sh", "mamba.sh", "set_env.sh", "setvars.sh"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return file.ends_with(end); });
}

Result<std::string> read_named_config(const FileReader& files, const std::string& file,
                                      const std::string& name) {
  Result<std::string> found = read_named_file(files, file, name);
  const std::size_t folder = name.rfind('/');
  if (found || folder == std::string::npos) return found;
  Result<std::string> near = files(beside(file, name.substr(folder + 1)));
  return near ? near : found;
}

bool is_yaml_file(std::string_view file) {
  return file.ends_with(".yaml") || file.ends_with(".yml");
}

bool is_script_file(std::string_view file) {
  return file.ends_with(".sh") || file.ends_with(".sbatch") || file.ends_with(".slurm") ||
         file.ends_with(".bash");
}

}  // namespace rankwright::importer
