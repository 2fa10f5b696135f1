// A stream buffer that removes control characters from everything written to it
// (base/terminal_text.h), so that no message has to track which of its words came from a file.
#pragma once

#include <iosfwd>
#include <streambuf>
#include <string>

#include "rankwright/base/terminal_text.h"

namespace rankwright::cli {

/// Cleans text and forwards it to another stream.
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
  std::string held_{};  // cleaned as a whole, so that no character or escape sequence is split
};

}  // namespace rankwright::cli
