// A stream buffer that cleans everything that goes through it (base/terminal_text.h) before it
// reaches the terminal: no message has to remember which of its words came from a file.
#pragma once

#include <iosfwd>
#include <streambuf>
#include <string>

#include "rankwright/base/terminal_text.h"

namespace rankwright::cli {

class CleanBuffer : public std::streambuf {
 public:
  CleanBuffer(std::ostream& to, KeptEscapes kept) : to_(to), kept_(kept) {}
  ~CleanBuffer() override { sync(); }
  CleanBuffer(const CleanBuffer&) = delete;
  CleanBuffer& operator=(const CleanBuffer&) = delete;

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  bool pass_on();

  std::ostream& to_;
  KeptEscapes kept_;
  std::string held_{};  // cleaned as a whole, so that no character or sequence is cut in two
};

}  // namespace rankwright::cli
